"""Where a physical plan runs: processing elements, processes, and what carries rows between them.

One logical plan has many deployments: settings decide how many processes there are, and whether
steps share one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from penstock.model.dedup import Dedup
from penstock.model.join import Join
from penstock.model.physical import Chain, Keyed, Physical, Scan
from penstock.model.sink_words import written
from penstock.plan.step_text import step_text

Kind: TypeAlias = Literal["read", "chain", "keyed", "write"]
DRIVER, JVM, PLANNER = "driver", "jvm", "planner"

CALL = "call within the process"
SOCKET = "Arrow over a socket, through the JVM"
SHUFFLE = "Arrow blobs, shuffled by bucket hash: few rows over a socket, many in files"
COLLECT = "Arrow blobs, collected at the end of the batch: few rows over a socket, many in files"
TRANSACTION = "log transaction, committed by batch id"
STORE = "transaction of the store, with the batch id"
FILES = "log segments, Arrow from files"
POSITIONS = "positions of the log, from files"
COMMANDS = "py4j: commands, and the blobs of results"


@dataclass(frozen=True, slots=True)
class Element:
    """A processing element: what it does, in how many instances, and in which processes.

    A reader has as many instances as its topic has partitions, which a plan does not know: 0.
    """

    id: str
    kind: Kind
    does: tuple[str, ...]
    instances: int
    tasks: int
    processes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Vertex:
    """A process of the operating system, and what it is for."""

    name: str
    role: str


@dataclass(frozen=True, slots=True)
class Transport:
    """How data goes from one element, process or topic to another."""

    source: str
    target: str
    by: str


@dataclass(frozen=True, slots=True)
class Deployment:
    """A plan as processes: the elements and their streams, the processes and their connections."""

    elements: tuple[Element, ...]
    streams: tuple[Transport, ...]
    processes: tuple[Vertex, ...]
    connections: tuple[Transport, ...]


def deploy(physical: Physical) -> Deployment:
    """Give the processes a plan is run in by its settings."""
    workers = tuple(f"worker {n}" for n in range(1, physical.settings.parallelism + 1))
    return Deployment(
        elements=tuple(_elements(physical, workers)),
        streams=tuple(_streams(physical)),
        processes=tuple(_processes(workers)),
        connections=tuple(_connections(workers)),
    )


def _elements(physical: Physical, workers: tuple[str, ...]) -> Iterator[Element]:
    tasks = len(workers)
    for scan in physical.scans:
        how = "" if scan.stream.format is None else f" as {scan.stream.format}"
        reads = f"read {scan.stream.topic}{how} ({', '.join(scan.columns)})"
        fused = _fused(physical, scan.chains)
        yield Element(scan.id, "read", (reads, *fused), 0, tasks, workers)
        yield from _separate(physical, scan.chains, workers)
    for keyed in physical.operators:
        does = (step_text(keyed.relation), *_fused(physical, keyed.chains))
        instances = 1 if _is_one_group(keyed) else physical.settings.buckets
        yield Element(keyed.id, "keyed", does, instances, min(instances, tasks), workers)
        yield from _separate(physical, keyed.chains, workers)
    for output in physical.outputs:
        # All that a batch gives is written in one transaction, and so by one process.
        yield Element(
            output.id,
            "write",
            (f"write {output.sink.place}{written(output.sink)}",),
            1,
            1,
            (DRIVER,),
        )


def _is_one_group(keyed: Keyed) -> bool:
    """Whether rows have no key, and so are all in one bucket; copies have all columns as theirs."""
    return not keyed.relation.keys and not isinstance(keyed.relation, Dedup | Join)


def _fused(physical: Physical, chains: Iterable[Chain]) -> tuple[str, ...]:
    """Give what the chains do within the element they begin at."""
    if not physical.settings.fuse:
        return ()
    operators = {keyed.id for keyed in physical.operators}
    done: list[str] = []
    for chain in chains:
        steps = [step_text(step) for step in chain.steps]
        if chain.target in operators:
            packs = physical.settings.preaggregate
            steps.append("fold by key, split by bucket" if packs else "split by bucket")
        done.append(f"for {chain.target}: {'; '.join(steps) or 'pass on'}")
    return tuple(done)


def _separate(
    physical: Physical, chains: Iterable[Chain], workers: tuple[str, ...]
) -> Iterator[Element]:
    if physical.settings.fuse:
        return
    for chain in chains:
        if not chain.steps:
            continue
        does = tuple(step_text(step) for step in chain.steps)
        yield Element(chain.id, "chain", does, len(workers), len(workers), workers)


def _streams(physical: Physical) -> Iterator[Transport]:
    operators = {keyed.id for keyed in physical.operators}
    for scan in physical.scans:
        files = scan.stream.files
        origin = f"topic {scan.stream.topic}" if files is None else f"files {files}"
        yield Transport(origin, scan.id, FILES if files is None else "Arrow from files")
        yield from _of_chains(scan, operators, fused=physical.settings.fuse)
    for keyed in physical.operators:
        yield from _of_chains(keyed, operators, fused=physical.settings.fuse)
    for output in physical.outputs:
        sink = output.sink
        results = sink.topic if sink.store is None else None
        topics = [item for item in (results, sink.late_topic, sink.dead_topic) if item]
        if sink.store is not None:
            yield Transport(output.id, f"table {sink.place}", STORE)
        if topics:
            yield Transport(output.id, f"topic {', '.join(dict.fromkeys(topics))}", TRANSACTION)


def _of_chains(origin: Scan | Keyed, operators: set[str], *, fused: bool) -> Iterator[Transport]:
    for chain in origin.chains:
        last = SHUFFLE if chain.target in operators else COLLECT
        if not chain.steps:
            yield Transport(origin.id, chain.target, last)
        elif fused:
            yield Transport(origin.id, chain.target, f"{CALL}, then {last}")
        else:
            yield Transport(origin.id, chain.id, SOCKET)
            yield Transport(chain.id, chain.target, last)


def _processes(workers: tuple[str, ...]) -> Iterator[Vertex]:
    yield Vertex(DRIVER, "Python: your program; it ends each batch in one transaction")
    yield Vertex(JVM, "Java: Spark's scheduler and exchanges")
    yield Vertex(PLANNER, "Python: decides when a batch begins and what it reads")
    for worker in workers:
        yield Vertex(worker, "Python: one task at a time, reading or computing")


def _connections(workers: tuple[str, ...]) -> Iterator[Transport]:
    yield Transport(DRIVER, JVM, COMMANDS)
    yield Transport(DRIVER, "log", TRANSACTION)
    yield Transport(JVM, PLANNER, "socket")
    yield Transport("log", PLANNER, POSITIONS)
    for worker in workers:
        yield Transport("log", worker, FILES)
        yield Transport(JVM, worker, "Arrow over a socket")
