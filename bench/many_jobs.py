"""What many queries on one stream cost, each by itself and run as one; at work and at rest."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import penstock as ps
from bench.measure import cost_of_tree, seconds
from bench.process_memory import held_memory
from bench.result import Measure, Result, Target
from bench.scale import Scale
from bench.windowed import EVENTS, event_rows
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.open import open_log
from penstock.log.topic import TopicConfig
from penstock.model.physical import Physical, Settings
from penstock.plan.merge import merge
from penstock.plan.planner import plan
from penstock.spark.query import ProgramQuery
from penstock.spark.run import start
from penstock.spark.session import spark_session, stop_session

_NUMBERS = (1, 5, 20, 50)
_RATES = (1_000, 10_000, 100_000)
_TICK = 0.05
_METHOD = (
    "Queries over one topic, each a tumbling window by user with another filter and a topic of its"
    " own, in one session. Once all have run their first batch, rows are appended in one go and the"
    " time and the processors of the whole process tree are taken until all have them: with a"
    " Spark query each, and run as one query over one scan. Then rows are appended every 50 ms at a"
    " steady rate: the share of one core that is taken (100 % is a core; the feeding counts), and"
    " how long after the last row all queries have all rows. At rest: the share of one core and the"
    " memory (PSS) of the whole tree in the minute after a minute and a half without rows; the"
    " promise for 50 is 10 % and 6 GB. `events/CPU-s` counts an event once for each query that"
    " reads it."
)


class _Load(NamedTuple):
    """What queries are given: so many rows at once, some rates for a time, then nothing."""

    rows: int
    rates: tuple[int, ...]
    length: int
    rest: int


def run(scale: Scale) -> Result:
    """Measure some numbers of queries, apart and together."""
    numbers = _NUMBERS if not scale.quick else (1, 2)
    rows = scale.of(200_000, 1_000)
    length = scale.of(8, 1)
    measures: list[Measure] = []
    spark_session()
    try:
        for number in numbers:
            rest = scale.of(60, 1) if number == numbers[-1] else 0
            load = _Load(rows, _RATES if not scale.quick else _RATES[:1], length, rest)
            for shared in (False, True):
                with scale.home() as home:
                    measures += _measured(home, number, load, shared=shared)
    finally:
        stop_session()
    return Result(
        name="many_jobs",
        title="Many queries on one stream",
        method=_METHOD,
        scale=scale.name,
        sizes={
            "rows": rows,
            "queries": ", ".join(str(number) for number in numbers),
            "seconds at a rate": length,
        },
        measures=tuple(measures),
    )


def _measured(home: Path, number: int, load: _Load, *, shared: bool) -> list[Measure]:
    label = f"{number} queries, {'one scan' if shared else 'each by itself'}"
    programs = {f"query{place}": _program(place) for place in range(number)}
    with open_log(home) as log:
        log.create_topic("events", schema=EVENTS, config=TopicConfig(fsync="os"))
        log.append("events", 0, event_rows(1_000, 0))
        with _running(home, log, programs, shared=shared) as queries:
            cost = cost_of_tree(lambda: _take(log, queries, load.rows))
            found = [
                Measure(label=f"{label}: time", unit="s", ours=(cost.wall,), lower_is_better=True),
                Measure(
                    label=f"{label}: events/CPU-s",
                    unit="events/CPU-s",
                    ours=(load.rows * number / cost.cpu,),
                ),
            ]
            for rate in load.rates:
                found += _at_rate(f"{label}, {rate:,} events/s", log, queries, (rate, load.length))
            return found + (_at_rest(label, load.rest) if load.rest else [])


def _at_rate(
    label: str, log: EmbeddedLog, queries: Sequence[ProgramQuery], flow: tuple[int, int]
) -> list[Measure]:
    behind: list[float] = []

    def work() -> None:
        _feed(log, *flow)
        behind.append(seconds(lambda: _await(log, queries)))

    cost = cost_of_tree(work)
    share, last = 100 * cost.cpu / cost.wall, "the last row in all results after"
    return [
        Measure(label=f"{label}: share of a core", unit="%", ours=(share,), lower_is_better=True),
        Measure(label=f"{label}: {last}", unit="s", ours=tuple(behind), lower_is_better=True),
    ]


def _feed(log: EmbeddedLog, rate: int, length: int) -> None:
    """Append rows at a steady rate."""
    each, ticks = max(1, round(rate * _TICK)), round(length / _TICK)
    rows = event_rows(each * ticks, rate)
    began = time.monotonic()
    for number in range(ticks):
        time.sleep(max(0.0, began + number * _TICK - time.monotonic()))
        log.append("events", 0, rows.slice(number * each, each))


def _at_rest(label: str, rest: int) -> list[Measure]:
    # Workers that Spark does without for a minute end by themselves: that is not rest yet.
    time.sleep(1.5 * rest)
    idle = cost_of_tree(lambda: time.sleep(rest))
    return [
        Measure(
            label=f"{label}, at rest: share of a core",
            unit="%",
            ours=(100 * idle.cpu / idle.wall,),
            lower_is_better=True,
            target=Target("at most", 10),
        ),
        Measure(
            label=f"{label}, at rest: memory",
            unit="MiB",
            ours=(sum(held_memory()),),
            lower_is_better=True,
            target=Target("at most", 6_000),
        ),
    ]


def _program(number: int) -> Physical:
    app = ps.App(f"query{number}")
    events = app.stream("events", schema=EVENTS, event_time="at", lateness="2s", idle=None)
    some = events.filter(ps.col("amount") > float(number))
    windows = some.group_by("user").window(ps.tumbling("10s"))
    windows.agg(total=ps.sum("amount"), n=ps.count()).to(f"totals{number}")
    return plan(app.plan(), Settings(buckets=2, parallelism=2))


@contextmanager
def _running(
    home: Path, log: EmbeddedLog, programs: Mapping[str, Physical], *, shared: bool
) -> Iterator[list[ProgramQuery]]:
    wanted = {"shared": merge("shared", programs)} if shared else programs
    queries: list[ProgramQuery] = []
    try:
        for name, program in wanted.items():
            queries.append(start(program, home=home, checkpoint=home / name))
        _await(log, queries)
        yield queries
    finally:
        for query in queries:
            query.stop()


def _take(log: EmbeddedLog, queries: Sequence[ProgramQuery], rows: int) -> None:
    log.append("events", 0, event_rows(rows, 1))
    _await(log, queries)


def _await(log: EmbeddedLog, queries: Sequence[ProgramQuery]) -> None:
    end = log.bounds("events", 0).end
    for query in queries:
        while (progress := query.progress) is None or progress.positions[0].position < end:
            if query.error is not None:
                raise query.error
            time.sleep(0.05)
