"""How long a topic of very many segments takes to open."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from bench.child import in_child
from bench.result import Measure, Result, Target
from bench.scale import Scale
from bench.workload import bytes_rows
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.open import open_log
from penstock.log.port import ReadLimit
from penstock.log.topic import TopicConfig

_METHOD = (
    "A topic of very many segments, ten records in each, is opened by a new process: `open_log`,"
    " then its bounds, the first read in the middle, the first read at the start and the first"
    " append. The clock starts after the imports. A topic of one segment is opened by turns with"
    " it."
)


def run(scale: Scale) -> Result:
    """Measure the first steps on a topic of many segments, and of one."""
    segments = scale.of(10_000, 200)
    with scale.home() as many, scale.home() as one:
        _make(many, segments)
        _make(one, 1)
        taken = [(in_child(_open, many), in_child(_open, one)) for _ in range(scale.pairs)]
    measures = [
        Measure(
            label=step,
            unit="ms",
            ours=tuple(ours[step] for ours, _ in taken),
            baseline=tuple(theirs[step] for _, theirs in taken),
            lower_is_better=True,
        )
        for step in taken[0][0]
    ]
    whole = Measure(
        label="all of it",
        unit="ms",
        ours=tuple(sum(ours.values()) for ours, _ in taken),
        lower_is_better=True,
        target=Target("at most", 1000),
    )
    return Result(
        name="opening",
        title=f"Opening a topic of {segments:,} segments",
        method=_METHOD,
        baseline="a topic of one segment",
        scale=scale.name,
        sizes={"segments": segments, "records a segment": 10, "pairs": scale.pairs},
        measures=(*measures, whole),
    )


def _make(home: Path, segments: int) -> None:
    rows = bytes_rows(10, size=100)
    with open_log(home) as log:
        # So small that each append finds the segment full and seals it.
        log.create_topic("t", config=TopicConfig(fsync="os", segment_bytes=1))
        for _ in range(segments):
            log.append("t", 0, rows)
        log.configure_topic("t", TopicConfig(fsync="os"))


def _open(home: Path) -> dict[str, float]:
    """Give the milliseconds of each first step."""
    rows = bytes_rows(10, size=100)
    steps: dict[str, Callable[[EmbeddedLog], object]] = {
        "bounds": lambda log: log.bounds("t", 0),
        "first read, in the middle": lambda log: log.read(
            "t", 0, log.bounds("t", 0).end // 2, ReadLimit(records=10)
        ),
        "first read, at the start": lambda log: log.read("t", 0, 0, ReadLimit(records=10)),
        "first append": lambda log: log.append("t", 0, rows),
    }
    began = time.perf_counter()
    with open_log(home) as log:
        taken = {"open_log": (time.perf_counter() - began) * 1000}
        for name, step in steps.items():
            began = time.perf_counter()
            step(log)
            taken[name] = (time.perf_counter() - began) * 1000
    return taken
