"""Each stage of a program as text: what was meant, what became of it, and where it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from penstock.model.physical import Physical, Settings
from penstock.model.plan import Plan
from penstock.model.progress import Progress
from penstock.model.relation import Relation
from penstock.plan.caution import cautions
from penstock.plan.deployment import Deployment, Element, deploy
from penstock.plan.fingerprint import fingerprint
from penstock.plan.logical import Change, Logical, improve
from penstock.plan.lowering import lowering_lines
from penstock.plan.planner import DEFAULT_SETTINGS, lowered
from penstock.plan.refuse import refuse
from penstock.plan.state_bound import state_lines
from penstock.plan.step_text import step_text
from penstock.plan.tree import tree
from penstock.plan.watermarks import watermark_lines

Stage: TypeAlias = Literal["model", "logical", "physical", "watermark", "state", "spark", "all"]
STAGES: tuple[Stage, ...] = get_args(Stage)


@dataclass(frozen=True, slots=True)
class Running:
    """What is known of a program that runs: process ids by name, how far it is, what time it is.

    Without a `clock` that of its last batch counts. `spark` is the plan that Spark made of it.
    """

    pids: Mapping[str, int] = field(default_factory=dict)
    progress: Progress | None = None
    clock: int | None = None
    spark: str = ""


NOT_RUNNING = Running()
_SPARK = "spark"


@dataclass(frozen=True, slots=True)
class _Stages:
    """A program in every form it takes."""

    program: Plan
    logical: Logical
    physical: Physical
    running: Running


def explain(
    program: Plan,
    settings: Settings = DEFAULT_SETTINGS,
    stage: Stage = "all",
    *,
    running: Running = NOT_RUNNING,
) -> str:
    """Print one stage or all; what is known of a running program is shown beside the plan."""
    return "\n\n".join(stages_text(program, settings, stage, running=running).values()) + "\n"


def stages_text(
    program: Plan,
    settings: Settings = DEFAULT_SETTINGS,
    stage: Stage = "all",
    *,
    running: Running = NOT_RUNNING,
) -> dict[str, str]:
    """Give the text of each stage that was asked for."""
    refuse(program, settings)
    logical = improve(program)
    stages = _Stages(program, logical, lowered(logical, settings), running)
    wanted = [stage] if stage != "all" else [n for n in PRINTERS if n != _SPARK or running.spark]
    return {name: "\n".join(PRINTERS[name](stages)) for name in wanted}


def _model(stages: _Stages) -> Iterator[str]:
    yield f"MODEL  program {stages.program.name}"
    yield from _indented(tree(stages.program))
    yield from _indented(f"mind: {sentence}" for sentence in cautions(stages.program))


def _logical(stages: _Stages) -> Iterator[str]:
    count = len(stages.logical.changes)
    yield f"LOGICAL  {count} change{'' if count == 1 else 's'} by rules"
    for change in stages.logical.changes:
        yield from _indented(_change(change))
    yield from _indented(tree(stages.logical.program))


def _change(change: Change) -> Iterator[str]:
    yield change.rule
    yield f"  - {_with_input(change.before)}"
    yield f"  + {_with_input(change.after)}"


def _with_input(relation: Relation) -> str:
    steps = (relation, *relation.inputs[:1])
    return " <- ".join(step_text(step) for step in steps)


def _physical(stages: _Stages) -> Iterator[str]:
    settings = stages.physical.settings
    fused = "fused" if settings.fuse else "not fused"
    folded = "rows folded" if settings.preaggregate else "rows not folded"
    yield (
        f"PHYSICAL  {fingerprint(stages.physical)}: {settings.buckets} buckets,"
        f" parallelism {settings.parallelism}, {fused}, {folded} before the exchange"
    )
    deployment = deploy(stages.physical)
    yield "  processing elements"
    for element in deployment.elements:
        yield from _indented(_element(element), "    ")
    yield "  streams between them"
    for stream in deployment.streams:
        yield f"    {stream.source} -> {stream.target}: {stream.by}"
    yield from _indented(_processes(deployment, stages.running.pids))
    yield "  how it is computed, and why so"
    yield from _indented(lowering_lines(stages.physical), "    ")


def _element(element: Element) -> Iterator[str]:
    place = f"{element.tasks} at a time, on {_span(element.processes)}"
    if element.kind == "read":
        place = f"one instance a partition, {place}"
    elif element.instances == 1:
        place = f"one instance, on {_span(element.processes)}"
    elif element.kind == "keyed":
        place = (
            f"{element.instances} instances, one a bucket, {place},"
            f" bucket n in task n mod {element.tasks}"
        )
    else:
        place = f"{element.instances} instances, {place}"
    yield f"{element.id}: {place}"
    yield from _indented(element.does)


def _span(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} to {names[-1].rpartition(' ')[2]}"


def _processes(deployment: Deployment, pids: Mapping[str, int]) -> Iterator[str]:
    yield "processes"
    for process in deployment.processes:
        pid = f" (pid {pids[process.name]})" if process.name in pids else ""
        yield f"  {process.name}{pid}: {process.role}"
    planned = {process.name for process in deployment.processes}
    for name in pids:
        if name not in planned:
            yield f"  {name} (pid {pids[name]}): Python, kept by Spark for other kinds of tasks"
    yield "connections"
    for connection in deployment.connections:
        yield f"  {connection.source} -> {connection.target}: {connection.by}"


def _watermark(stages: _Stages) -> Iterator[str]:
    yield "WATERMARK"
    running = stages.running
    yield from _indented(watermark_lines(stages.physical, running.progress, running.clock))


def _state(stages: _Stages) -> Iterator[str]:
    yield "STATE"
    yield from _indented(state_lines(stages.physical, stages.running.progress))


def _spark(stages: _Stages) -> Iterator[str]:
    yield "SPARK" if stages.running.spark else "SPARK  no plan before the first batch of a run"
    yield from _indented(stages.running.spark.splitlines())


def _indented(lines: Iterable[str], margin: str = "  ") -> Iterator[str]:
    return (f"{margin}{line}" for line in lines)


PRINTERS: Mapping[str, Callable[[_Stages], Iterator[str]]] = {
    "model": _model,
    "logical": _logical,
    "physical": _physical,
    "watermark": _watermark,
    "state": _state,
    _SPARK: _spark,
}
