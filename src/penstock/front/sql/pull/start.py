"""Where a question about what is there begins to read."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from penstock.front.sql.pull.tree import PullScan, PullStep
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.starting import begun_plan, refuse_start_of_table, start_of
from penstock.front.sql.tree_query import Start as Said
from penstock.model.start import Start


def begun_step(step: PullStep, said: Said | None, text: SourceText) -> PullStep:
    """Let all sources of a question be read from a place on; of a table that is refused."""
    return step if said is None else _begun(step, said, start_of(said, text), text)


def _begun(step: PullStep, said: Said, start: Start, text: SourceText) -> PullStep:
    if isinstance(step, PullScan):
        refuse_start_of_table(said, step.reads, text)
        return replace(step, plan=begun_plan(step.plan, step.reads, start))
    changes: dict[str, Any] = {
        item.name: _begun(getattr(step, item.name), said, start, text)
        for item in fields(step)
        if isinstance(getattr(step, item.name), PullStep)
    }
    return replace(step, **changes) if changes else step
