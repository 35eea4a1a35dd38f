"""The plans of a job's program, as its owner reads them."""

from __future__ import annotations

from penstock.model.physical import Physical
from penstock.model.plan import Plan
from penstock.plan.explain import NOT_RUNNING, Running, Stage, stages_text


def plan_texts(
    physical: Physical, stage: Stage = "all", *, running: Running = NOT_RUNNING
) -> dict[str, str]:
    """Give the text of each stage of a stored program, or of one; the rules have been at work."""
    program = Plan(physical.name, tuple(output.sink for output in physical.outputs))
    return stages_text(program, physical.settings, stage, running=running)
