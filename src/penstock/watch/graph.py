"""The dataflow of a home as a graph: topics and jobs, and what flows between them."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from penstock.clock import SYSTEM_CLOCK, Clock
from penstock.errors import PenstockError
from penstock.log.port import Log
from penstock.log.record import TopicPartition
from penstock.model.physical import Physical
from penstock.model.progress import Progress
from penstock.watch.lineage import Dataset, JobLineage, job_lineage, plan_of
from penstock.watch.seen_job import SeenJob, seen_jobs

NodeKind: TypeAlias = Literal["topic", "job", "file", "store", "static"]
_Ends: TypeAlias = Mapping[TopicPartition, int]
_Key: TypeAlias = tuple[str, ...]
_LEAST_MILLISECONDS = 500
_OURS = ("_",)
_BATCHES = "-batches"


@dataclass(frozen=True, slots=True)
class Node:
    """A topic, a job, or something outside of the log that a job reads or writes.

    `rate` is in rows a second, none before there were two looks; `internal` topics are kept by
    Penstock for itself. `problem` says why a job failed, or why its program is not known.
    """

    id: str
    kind: NodeKind
    name: str
    rate: float | None = None
    records: int | None = None
    partitions: int | None = None
    internal: bool = False
    state: str = ""
    lag: int | None = None
    watermark: int | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Edge:
    """What flows: `reads` into a job with its lag, `writes` out of one; ids of nodes.

    The watermark, in milliseconds since 1970, is that of the partitions read, or the job's own.
    """

    source: str
    target: str
    kind: Literal["reads", "writes"]
    rate: float | None = None
    lag: int | None = None
    watermark: int | None = None


@dataclass(frozen=True, slots=True)
class Graph:
    """All nodes and edges at one moment, in milliseconds since 1970."""

    at: int
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    def document(self) -> dict[str, Any]:
        """Give it as JSON has it."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class _Known:
    """What the program of a job says, or why it cannot be told."""

    lineage: JobLineage
    topics: Mapping[str, str] = field(default_factory=dict)
    """Topics by scan."""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class _Look:
    """What was counted at a moment."""

    at: int
    counts: Mapping[_Key, int]


class Dataflow:
    """Looks at a home again and again: rates are those since the look before.

    Programs are read once for each version. Whoever asks from several threads gets his turn.
    """

    def __init__(self, home: Path, log: Log, *, clock: Clock = SYSTEM_CLOCK) -> None:
        self._home = home
        self._log = log
        self._clock = clock
        self._programs: dict[_Key, _Known] = {}
        self._before: _Look | None = None
        self._rates: dict[_Key, float] = {}
        self._turn = threading.Lock()

    def look(self) -> Graph:
        """Give the graph as it is now."""
        with self._turn:
            return self._graph()

    def _graph(self) -> Graph:
        now = self._clock.now()
        jobs = [job for job in seen_jobs(self._home) if not _is_over(job)]
        bounds = self._log.snapshot(self._log.topics())
        ends = {place: bound.end for place, bound in bounds.items()}
        self._count(now, ends, jobs)
        known = {job.name: self._program(job) for job in jobs}
        records: dict[str, int] = {}
        partitions: dict[str, int] = {}
        for place, bound in bounds.items():
            records[place.topic] = records.get(place.topic, 0) + bound.end - bound.start
            partitions[place.topic] = partitions.get(place.topic, 0) + 1
        nodes = {
            _topic(name): Node(
                _topic(name),
                "topic",
                name,
                rate=self._rates.get((name,)),
                records=count,
                partitions=partitions[name],
                internal=is_internal(name),
            )
            for name, count in records.items()
        }
        edges: list[Edge] = []
        for job in jobs:
            nodes[_job(job.name)] = self._job_node(job, known[job.name], ends)
            for edge, dataset in self._edges(job, known[job.name], ends):
                edges.append(edge)
                other = edge.source if edge.kind == "reads" else edge.target
                nodes.setdefault(other, Node(other, _kind(dataset), dataset.name))
        return Graph(now, tuple(nodes.values()), tuple(edges))

    def _count(self, now: int, ends: _Ends, jobs: Iterable[SeenJob]) -> None:
        before = self._before
        if before is not None and now - before.at < _LEAST_MILLISECONDS:
            return
        counts: dict[_Key, int] = {}
        for place, end in ends.items():
            counts[place.topic,] = counts.get((place.topic,), 0) + end
        for job in jobs:
            for at in () if job.progress is None else job.progress.positions:
                counts[job.name, at.topic] = counts.get((job.name, at.topic), 0) + at.position
        if before is not None:
            seconds = (now - before.at) / 1000
            # Fewer than before: the topic was made anew, or the job begun anew.
            self._rates = {
                key: max(0, count - before.counts[key]) / seconds
                for key, count in counts.items()
                if key in before.counts
            }
        self._before = _Look(now, counts)

    def _job_node(self, job: SeenJob, known: _Known, ends: _Ends) -> Node:
        told = job.progress
        failure = "" if job.run is None else job.run.failure
        alive = job.state in ("running", "starting", "stopping")
        return Node(
            _job(job.name),
            "job",
            job.name,
            rate=told.rows_per_second if told is not None and alive else None,
            state=job.state,
            lag=None if told is None else sum(_lags(told, ends).values()),
            watermark=None if told is None else told.watermark,
            problem=failure or known.problem,
        )

    def _edges(self, job: SeenJob, known: _Known, ends: _Ends) -> Iterator[tuple[Edge, Dataset]]:
        told = job.progress
        lags = {} if told is None else _lags(told, ends)
        marks = {} if told is None else _watermarks(told, known.topics)
        for dataset in known.lineage.inputs:
            is_topic = dataset.kind == "topic"
            name = dataset.name
            yield (
                Edge(
                    _place(dataset),
                    _job(job.name),
                    "reads",
                    rate=self._rates.get((job.name, name)) if is_topic else None,
                    lag=lags.get(name) if is_topic else None,
                    watermark=marks.get(name),
                ),
                dataset,
            )
        for written in known.lineage.outputs:
            name = written.dataset.name
            yield (
                Edge(
                    _job(job.name),
                    _place(written.dataset),
                    "writes",
                    rate=self._rates.get((name,)) if written.dataset.kind == "topic" else None,
                    watermark=None if told is None else told.watermark,
                ),
                written.dataset,
            )

    def _program(self, job: SeenJob) -> _Known:
        version = "" if job.definition is None else str(job.definition.version)
        asked = job.name if job.definition is not None or job.run is None else job.run.id
        key = (asked, version)
        if key not in self._programs:
            found = _read_program(self._home, job.name, asked)
            if found.problem:
                # It may be stored in a moment; meanwhile what it has read is known.
                return _by_positions(job, found)
            self._programs[key] = found
        return self._programs[key]


def dataflow_graph(home: Path, log: Log) -> Graph:
    """Give the graph of a home once; who wants rates keeps a `Dataflow`."""
    return Dataflow(home, log).look()


def _read_program(home: Path, name: str, asked: str) -> _Known:
    from penstock.jobs.submit import known_program  # noqa: PLC0415  # PySpark: seconds

    try:
        physical: Physical = known_program(home, asked)
    except PenstockError as error:
        return _Known(JobLineage(name, (), ()), problem=error.fact)
    scans = {scan.id: scan.stream.topic for scan in physical.scans if scan.stream.files is None}
    return _Known(job_lineage(plan_of(physical), name), scans)


def _by_positions(job: SeenJob, found: _Known) -> _Known:
    from penstock.schema.schema import Schema  # noqa: PLC0415

    read = {} if job.progress is None else {at.topic: None for at in job.progress.positions}
    inputs = tuple(Dataset("topic", topic, Schema(())) for topic in read)
    return _Known(JobLineage(job.name, inputs, ()), problem=found.problem)


def _lags(told: Progress, ends: _Ends) -> dict[str, int]:
    lags: dict[str, int] = {}
    for at in told.positions:
        end = ends.get(TopicPartition(at.topic, at.partition), at.end)
        lags[at.topic] = lags.get(at.topic, 0) + max(0, end - at.position)
    return lags


def _watermarks(told: Progress, topics: Mapping[str, str]) -> dict[str, int]:
    """Give the watermark of each topic: the least of its partitions that are not idle."""
    found: dict[str, int] = {}
    for part in told.partitions:
        topic = topics.get(part.scan)
        if topic is not None and part.watermark is not None and not part.idle:
            found[topic] = min(part.watermark, found.get(topic, part.watermark))
    return found


def _is_over(job: SeenJob) -> bool:
    """Whether it is a run of a program that was no job, and has ended."""
    return job.definition is None and job.run is not None and not job.run.alive


def is_internal(topic: str) -> bool:
    """Whether Penstock keeps a topic for itself."""
    return topic.startswith(_OURS) or topic.endswith(_BATCHES)


def _kind(dataset: Dataset) -> NodeKind:
    kinds: dict[str, NodeKind] = {"topic": "topic", "file": "file", "store": "store"}
    return kinds.get(dataset.kind, "static")


def _place(dataset: Dataset) -> str:
    return f"{_kind(dataset)}:{dataset.name}"


def _topic(name: str) -> str:
    return f"topic:{name}"


def _job(name: str) -> str:
    return f"job:{name}"
