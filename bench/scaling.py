"""What a row costs as keys, overlap of windows, size of batches and cores grow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TypeAlias

import penstock as ps
from bench.child import in_child, use_one_core
from bench.result import Measure, Result
from bench.scale import Scale
from bench.stage import Stage, Taken
from bench.windowed import EVENTS, event_rows
from penstock.front.dsl.stream import Stream
from penstock.log.open import open_log
from penstock.log.topic import TopicConfig
from penstock.spark.session import spark_session, stop_session

_PARTITIONS = 2
_KEYS = (10_000, 100_000, 1_000_000, 10_000_000)
_OVERLAPS = (1, 2, 5, 10, 20, 60)
_METHOD = (
    "Events of a user, an amount and an event time, in a topic of 2 partitions, through one program"
    " into another topic, exactly once; a new job for each run, in one session that is warm. Rows a"
    " CPU-second of the whole process tree, and rows a second of the micro-batches after the first,"
    " for: sums and counts by user with more and more users, all of them in the state of one long"
    " window (of 10,000,000 users, as many as the rows can touch); windows of a minute that overlap"
    " more and more; windows of 10 s in batches of more and more rows; and one core against two, in"
    " a process of its own each (only the clock counts there). Many queries on one stream have a"
    " bench of their own (`many_jobs`, at several rates), as have a large state under small batches"
    " (`state_size`), a long history (`volume`) and a long run (`endurance`)."
)
_Build: TypeAlias = Callable[[Stream], Stream]


@dataclass(frozen=True, slots=True)
class _Case:
    """One point of a curve."""

    label: str
    topic: str
    build: _Build
    batch: int


def _summed(size: str, advance: str) -> _Build:
    def build(stream: Stream) -> Stream:
        grouped = stream.group_by("user").window(ps.hopping(size, advance))
        return grouped.agg(total=ps.sum("amount"), n=ps.count())

    return build


def run(scale: Scale) -> Result:
    """Measure each curve, point by point."""
    rows, runs = scale.of(2_000_000, 20_000), scale.of(3, 1)
    with scale.home() as home:
        one, two = _cores(home, rows, runs)
        spark_session()
        try:
            stage = Stage(spark_session(), home, numbers=count(1000))
            measures = [
                item for case in _cases(home, rows) for item in _curve(stage, case, rows, runs)
            ]
        finally:
            stop_session()
    both = Measure(
        label="two cores against one", unit="events/s", ours=tuple(two), baseline=tuple(one)
    )
    return Result(
        name="scaling",
        title="What a row costs as everything grows",
        method=_METHOD,
        scale=scale.name,
        sizes={"rows": rows, "runs": runs, "partitions": _PARTITIONS},
        measures=(*measures, both),
    )


def _cases(home: Path, rows: int) -> Iterator[_Case]:
    tumbling, long = _summed("10s", "10s"), _summed("1h", "1h")
    for keys in _KEYS:
        topic = f"keys-{keys}"
        _write(home, topic, rows, keys)
        yield _Case(f"{keys:,} keys", topic, long, rows // 2)
    topic = f"keys-{_KEYS[1]}"
    for overlap in _OVERLAPS:
        hopping = _summed("60s", f"{60 // overlap}s")
        yield _Case(f"each row in {overlap} windows", topic, hopping, rows // 2)
    for parts in (200, 20, 2):
        yield _Case(f"batches of {rows // parts:,} rows", topic, tumbling, rows // parts)


def _curve(stage: Stage, case: _Case, rows: int, runs: int) -> Iterator[Measure]:
    _taken(stage, case)
    found = [_taken(stage, case) for _ in range(runs)]
    by_processor = tuple(rows / taken.cpu for taken in found)
    yield Measure(label=case.label, unit="events/CPU-s", ours=by_processor)
    measured = rows - case.batch
    if measured:
        by_clock = tuple(measured / taken.batches for taken in found)
        yield Measure(label=case.label, unit="events/s", ours=by_clock)


def _taken(stage: Stage, case: _Case) -> Taken:
    def build(app: ps.App, target: str) -> object:
        stream = app.stream(case.topic, schema=EVENTS, event_time="at", lateness="2s")
        return case.build(stream).to(target)

    return stage.with_batches_of(case.batch).ours(build)


def _cores(home: Path, rows: int, runs: int) -> tuple[Sequence[float], Sequence[float]]:
    _write(home, "cores", rows, _KEYS[1])
    return in_child(_on_cores, home, rows, runs, 1), in_child(_on_cores, home, rows, runs, 2)


def _on_cores(home: Path, rows: int, runs: int, cores: int) -> list[float]:
    if cores == 1:
        use_one_core()
    try:
        stage = Stage(spark_session(), home, numbers=count(cores * 100))
        case = _Case("", "cores", _summed("10s", "10s"), rows // 4)
        _taken(stage, case)
        return [rows * 3 / 4 / _taken(stage, case).batches for _ in range(runs)]
    finally:
        stop_session()


def _write(home: Path, topic: str, rows: int, keys: int) -> None:
    batch = max(1000, min(250_000, rows // 4))
    with open_log(home) as log:
        config = TopicConfig(fsync="os")
        log.create_topic(topic, partitions=_PARTITIONS, schema=EVENTS, config=config)
        for number in range(rows // batch):
            log.append(topic, number % _PARTITIONS, event_rows(batch, number, keys=keys))
