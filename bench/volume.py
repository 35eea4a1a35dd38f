"""Whether appending and reading at the end take longer where more records are stored."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from statistics import median

import pyarrow as pa

from bench.result import Measure, Result, Target
from bench.scale import Scale
from bench.workload import bytes_rows, fill
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.open import open_log
from penstock.log.port import ReadLimit
from penstock.log.topic import TopicConfig

_SMALL = 100
_WITHIN = Target("at most", 1.5)
_METHOD = (
    "Three topics hold 10^3, 10^5 and 10^7 records of 100 bytes. By turns each is appended to"
    " (100 records), read at its end by a reader that follows it, and read 150 records before"
    " its end, where no reader has been and the index has to find the place. `fsync=os`, so that"
    " the disk's own time hides nothing; one more append by turns with `fsync=always` shows what"
    " a user has by default. The number is the median of all rounds; the ratio divides the"
    " slowest of the three medians by the fastest."
)


@dataclass(frozen=True, slots=True)
class _Stored:
    """A topic with so many records, and the times taken on it in microseconds."""

    records: int
    topic: str
    times: dict[str, list[float]] = field(default_factory=dict)

    def note(self, step: str, began: float) -> None:
        self.times.setdefault(step, []).append((time.perf_counter() - began) * 1e6)


def run(scale: Scale) -> Result:
    """Measure appends and reads at the end of three topics, by turns."""
    volumes = (1000, scale.of(100_000, 5_000), scale.of(10_000_000, 20_000))
    rounds = scale.of(1000, 20)
    with scale.home() as home, open_log(home) as log:
        stored = [_store(log, records) for records in volumes]
        small = bytes_rows(_SMALL, size=100)
        for number in range(rounds + rounds // 10):
            if number == rounds // 10:
                for item in stored:
                    item.times.clear()
            for item in stored:
                _round(log, item, small)
        for item in stored:
            log.configure_topic(item.topic, TopicConfig(fsync="always"))
        for _ in range(rounds // 5):
            for item in stored:
                _append(log, item, small, "append, fsync=always")
    return Result(
        name="volume",
        title="Append and tail read with more and more records stored",
        method=_METHOD,
        scale=scale.name,
        sizes={"rounds": rounds, "records an append": _SMALL, "bytes a record": 100},
        measures=_measures(stored),
    )


def _measures(stored: list[_Stored]) -> tuple[Measure, ...]:
    measures: list[Measure] = []
    for step in stored[0].times:
        medians = [median(item.times[step]) for item in stored]
        measures += [
            Measure(
                label=f"{step}, {item.records:,} stored",
                unit="µs",
                ours=(found,),
                lower_is_better=True,
            )
            for item, found in zip(stored, medians, strict=True)
        ]
        slowest = max(medians) / min(medians)
        measures.append(
            Measure(
                label=f"{step}, slowest ÷ fastest",
                unit="times",
                ours=(slowest,),
                lower_is_better=True,
                target=_WITHIN,
            )
        )
    return tuple(measures)


def _store(log: EmbeddedLog, records: int) -> _Stored:
    topic = f"t{records}"
    log.create_topic(topic, config=TopicConfig(fsync="os"))
    fill(log, topic, bytes_rows(min(records, 10_000), size=100), records)
    return _Stored(records, topic)


def _round(log: EmbeddedLog, stored: _Stored, small: pa.Table) -> None:
    end = log.bounds(stored.topic, 0).end
    log.read(stored.topic, 0, end, ReadLimit())
    _append(log, stored, small, "append")
    _read(log, stored, end, "tail read, following")
    _read(log, stored, end - _SMALL // 2, "tail read, elsewhere")


def _append(log: EmbeddedLog, stored: _Stored, rows: pa.Table, step: str) -> None:
    began = time.perf_counter()
    log.append(stored.topic, 0, rows)
    stored.note(step, began)


def _read(log: EmbeddedLog, stored: _Stored, offset: int, step: str) -> None:
    began = time.perf_counter()
    chunk = log.read(stored.topic, 0, offset, ReadLimit())
    stored.note(step, began)
    assert chunk.rows.num_rows >= _SMALL
