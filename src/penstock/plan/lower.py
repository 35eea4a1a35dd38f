"""A program cut at the steps that remember: scans, chains, keyed operators and outputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from penstock.model.aggregate import Aggregate
from penstock.model.dedup import Dedup
from penstock.model.enrich import Enrich
from penstock.model.expr import Column
from penstock.model.join import Join
from penstock.model.latest import Latest
from penstock.model.match import Match
from penstock.model.physical import Chain, Keyed, Output, Physical, Scan, Settings, Stateful
from penstock.model.plan import Plan
from penstock.model.process import Process
from penstock.model.relation import Relation
from penstock.model.settle import Settle
from penstock.model.source import Stream
from penstock.model.stateless import (
    Apply,
    Named,
    Project,
    Stateless,
)
from penstock.model.top_n import TopN
from penstock.model.versions import Versions
from penstock.plan.lateness import delay, keep_late, upstream
from penstock.plan.reads import reads

_KINDS: Mapping[type[Relation], str] = {
    Aggregate: "agg",
    Dedup: "dedup",
    TopN: "top",
    Latest: "table",
    Versions: "versions",
    Join: "join",
    Process: "process",
    Match: "match",
    Settle: "settle",
}
_Path: TypeAlias = tuple[tuple[Stateless, ...], str, int]
"""Steps, where they lead, and to which of its inputs."""


def lower(program: Plan, settings: Settings) -> Physical:
    """Cut a program whose equal steps are one object; names depend on its order alone."""
    streams = [step for step in program.walk() if isinstance(step, Stream)]
    keyed = [step for step in program.walk() if isinstance(step, Stateful)]
    names = _names(streams, keyed)
    outputs = tuple(Output(f"out-{sink.topic}", sink) for sink in program.sinks)
    paths = _paths(keyed, outputs, names)
    operators = tuple(_keyed(step, paths, names) for step in keyed)
    depth = max((operator.level for operator in operators), default=-1) + 1
    return Physical(
        name=program.name,
        scans=tuple(_scan(names[id(step)], step, paths[id(step)]) for step in streams),
        levels=tuple(
            tuple(operator for operator in operators if operator.level == level)
            for level in range(depth)
        ),
        outputs=outputs,
        settings=settings,
    )


def _names(streams: list[Stream], keyed: list[Stateful]) -> dict[int, str]:
    scans = zip(streams, _numbered(f"scan-{step.topic}" for step in streams), strict=True)
    kinds: Counter[str] = Counter()
    names = {id(step): name for step, name in scans}
    for step in keyed:
        kind = _KINDS[type(step)]
        kinds[kind] += 1
        names[id(step)] = f"{kind}-{kinds[kind]}"
    return names


def _numbered(wanted: Iterator[str]) -> Iterator[str]:
    """Give the names; the second of the same gets a 2 behind a mark that no topic's name has."""
    seen: Counter[str] = Counter()
    for name in wanted:
        seen[name] += 1
        yield name if seen[name] == 1 else f"{name}#{seen[name]}"


def _paths(
    keyed: list[Stateful], outputs: tuple[Output, ...], names: Mapping[int, str]
) -> dict[int, list[_Path]]:
    """Give the ways out of every scan and operator, by its id."""
    paths: dict[int, list[_Path]] = {key: [] for key in names}

    def lead(relation: Relation, steps: tuple[Stateless, ...], target: str, port: int = 0) -> None:
        if id(relation) in names:
            paths[id(relation)].append((steps, target, port))
            return
        assert isinstance(relation, Stateless)
        for item in relation.inputs:
            lead(item, (relation, *steps), target, port)

    for step in keyed:
        for port, item in enumerate(step.inputs):
            lead(item, (), names[id(step)], port)
    for output in outputs:
        lead(output.sink.relation, (), output.id)
    return paths


def _chains(source: str, paths: list[_Path]) -> tuple[Chain, ...]:
    ids = _numbered(f"{source}->{target}" for _, target, _ in paths)
    return tuple(Chain(name, *path) for name, path in zip(ids, paths, strict=True))


def _scan(name: str, stream: Stream, paths: list[_Path]) -> Scan:
    needed = frozenset[str]().union(*(_first_reads(stream, steps) for steps, _, _ in paths))
    columns = tuple(column for column in stream.columns.names if column in needed)
    narrow = tuple(Named(column, Column(column)) for column in columns)
    # Where the scan gives just the columns a chain selects first, there is nothing to select.
    shorter = [
        (steps[1:] if steps and _selects(steps[0], narrow) else steps, target, port)
        for steps, target, port in paths
    ]
    return Scan(name, stream, _chains(name, shorter), columns)


def _selects(step: Stateless, columns: tuple[Named, ...]) -> bool:
    return isinstance(step, Project) and step.columns == columns


def _first_reads(stream: Stream, steps: tuple[Stateless, ...]) -> frozenset[str]:
    """Give the columns of a stream that a chain reads before it makes its own."""
    found: frozenset[str] = frozenset()
    for step in steps:
        found |= reads(step)
        if isinstance(step, Project | Apply | Enrich):
            return found
    return frozenset(stream.columns.names)


def _keyed(step: Stateful, paths: Mapping[int, list[_Path]], names: Mapping[int, str]) -> Keyed:
    name = names[id(step)]
    return Keyed(
        id=name,
        relation=step,
        level=_level(step),
        chains=_chains(name, paths[id(step)]),
        keep_late=keep_late(step),
        delay=delay(step),
    )


def _level(step: Stateful) -> int:
    return max((_level(item) + 1 for item in upstream(step)), default=0)
