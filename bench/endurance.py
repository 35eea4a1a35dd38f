"""Whether memory and state stay flat while a program runs for a long time."""

from __future__ import annotations

from pathlib import Path

import penstock as ps
from bench.process_memory import flat_memory, held_memory
from bench.result import Result
from bench.scale import Scale
from bench.windowed import EVENTS, event_rows
from bench.workload import MIB
from penstock.log.open import open_log
from penstock.log.topic import TopicConfig
from penstock.plan.planner import plan
from penstock.spark.run import start
from penstock.spark.session import spark_session, stop_session

_FLAT = 1.1
_METHOD = (
    "A tumbling window of 10 s by user, retracting, with an aggregate of it behind, runs on Spark"
    " and is given batch after batch, each of 50,000 rows and 3 s of event time: about every third"
    " closes a window of some 80,000 users. After each batch the memory (the share that is not"
    " another's: PSS) of Python's side (this process, the daemon, its workers) and of the JVM is"
    " noted, and what the state holds on disk."
    " The JVM's heap is bounded by its setting and grows into it as it likes; the ratio is that of"
    f" the most in the last third to the most in the third before, and flat means up to {_FLAT}."
)


def run(scale: Scale) -> Result:
    """Run batch after batch and note memory and state after each."""
    batches, rows = scale.of(150, 9), scale.of(50_000, 500)
    spark_session()
    try:
        with scale.home() as home:
            samples = _samples(home, batches, rows)
    finally:
        stop_session()
    names = ("memory of Python", "memory of the JVM", "state on disk")
    measures = [
        item
        for place, name in enumerate(names)
        for item in flat_memory(name, [sample[place] for sample in samples], _FLAT)
    ]
    return Result(
        name="endurance",
        title="Memory and state over a long run of a program",
        method=_METHOD,
        scale=scale.name,
        sizes={"batches": batches, "rows a batch": rows},
        measures=tuple(measures),
    )


def _samples(home: Path, batches: int, rows: int) -> list[tuple[float, float, float]]:
    """Give MiB after each batch: of Python, of the JVM, and of the checkpoint's files."""
    app = ps.App("endurance")
    events = app.stream("events", schema=EVENTS, event_time="at", lateness="2s", idle=None)
    users = events.group_by("user").window(ps.tumbling("10s"))
    spent = users.refine(ps.retracting()).agg(total=ps.sum("amount"), n=ps.count())
    spent.group_by("n").agg(users=ps.count()).to("spread")
    found: list[tuple[float, float, float]] = []
    with open_log(home) as log:
        log.create_topic("events", schema=EVENTS, config=TopicConfig(fsync="os"))
        query = start(plan(app.plan()), home=home, checkpoint=home / "checkpoint")
        try:
            for number in range(batches):
                # Each number is a stretch of event time that two halves share.
                for half in (2 * number, 2 * number + 1):
                    log.append("events", 0, event_rows(rows // 2, half))
                query.spark.processAllAvailable()
                found.append((*held_memory(), _size(home / "checkpoint")))
        finally:
            query.stop()
    return found


def _size(folder: Path) -> float:
    total = 0
    for file in folder.rglob("*"):
        try:
            total += file.stat().st_size
        except FileNotFoundError:
            continue
    return total / MIB
