"""How soon a blocked reader has a record that another process appends."""

from __future__ import annotations

import random
import struct
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from multiprocessing.connection import Connection
from pathlib import Path

from bench import channel_latency
from bench.child import SPAWN
from bench.measure import percentile
from bench.result import Measure, Result, Target
from bench.scale import Scale
from penstock.log.consumer import Consumer
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.open import open_log
from penstock.log.port import ReadLimit
from penstock.log.record import TopicPartition
from penstock.log.rows import rows_of_bytes
from penstock.log.topic import Fsync, TopicConfig

_MOMENT = struct.Struct("<q")
_PATIENCE = 10.0
_WITHIN_MILLISECONDS = Target("at most", 5000)
_METHOD = (
    "One process appends a record every 1 to 3 ms, at random; another is blocked until it comes."
    " The time runs from before the append to the record in the reader's hand, so it includes the"
    " append itself, with its sync where `fsync=always`. The direct channel, which writes no log,"
    " sends as many records at the same pace. Rounds take turns; each round gives one p50 and one"
    " p99."
)


@dataclass(frozen=True, slots=True)
class _Case:
    label: str
    fsync: Fsync
    read: Callable[[EmbeddedLog], Iterator[bytes]]


def run(scale: Scale) -> Result:
    """Measure readers of the log and of a direct channel, by turns."""
    appends = scale.of(500, 50)
    rounds = scale.of(5, 2)
    cases = (
        _Case("log.wait and log.read, fsync=os", "os", waiting_reader),
        _Case("Consumer.poll, fsync=os", "os", polling_reader),
        _Case("Consumer.poll, fsync=always", "always", polling_reader),
    )
    p50s: dict[str, list[float]] = {}
    p99s: dict[str, list[float]] = {}
    for _ in range(rounds):
        for case in cases:
            latencies = _round(scale, case, appends)
            p50s.setdefault(case.label, []).append(percentile(latencies, 0.50))
            p99s.setdefault(case.label, []).append(percentile(latencies, 0.99))
        pause = timedelta(milliseconds=2)
        direct = channel_latency.run(messages=appends, pause=pause, burst=1)
        p50s.setdefault("direct channel", []).append(direct["p50_micros"])
        p99s.setdefault("direct channel", []).append(direct["p99_micros"])
    measures = [
        Measure(
            label=f"{name}, {label}",
            unit="µs",
            ours=tuple(found),
            lower_is_better=True,
            target=_WITHIN_MILLISECONDS if name == "p50" else None,
        )
        for label in p50s
        for name, found in (("p50", p50s[label]), ("p99", p99s[label]))
    ]
    return Result(
        name="wake",
        title="Wake-up latency of a blocked reader",
        method=_METHOD,
        scale=scale.name,
        sizes={"appends a round": appends, "rounds": rounds},
        measures=tuple(measures),
    )


def _round(scale: Scale, case: _Case, appends: int) -> list[float]:
    """Give the latency of each append, in microseconds."""
    with scale.home() as home:
        with open_log(home) as log:
            log.create_topic("t", config=TopicConfig(fsync=case.fsync))
            near, far = SPAWN.Pipe()
            reader = SPAWN.Process(
                target=_listen, args=(far, home, case.read, appends), daemon=True
            )
            reader.start()
            log.append("t", 0, rows_of_bytes([b"before"]))
            far.close()
            near.recv()
            _append_now_and_then(log, appends)
        latencies: list[float] = near.recv()
        reader.join()
    # The first few find files unopened and code unloaded on both sides.
    return latencies[appends // 10 :]


def _append_now_and_then(log: EmbeddedLog, appends: int) -> None:
    pauses = random.Random(1)
    for _ in range(appends):
        time.sleep(pauses.uniform(0.001, 0.003))
        log.append("t", 0, rows_of_bytes([_MOMENT.pack(time.monotonic_ns())]))


def _listen(
    far: Connection,
    home: Path,
    read: Callable[[EmbeddedLog], Iterator[bytes]],
    appends: int,
) -> None:
    latencies: list[float] = []
    with open_log(home) as log:
        values = read(log)
        # One record before the clock runs: the reader has started when it has that.
        next(values)
        far.send("ready")
        while len(latencies) < appends:
            (sent_at,) = _MOMENT.unpack(next(values))
            latencies.append((time.monotonic_ns() - sent_at) / 1000)
    far.send(latencies)


def waiting_reader(log: EmbeddedLog) -> Iterator[bytes]:
    """Give values as the log's port gives them: wait, then read."""
    place, offset = TopicPartition("t", 0), 0
    while True:
        if log.wait({place: offset}, _PATIENCE):
            chunk = log.read(*place, offset, ReadLimit())
            offset = chunk.next_offset
            yield from chunk.rows.column("value").to_pylist()


def polling_reader(log: EmbeddedLog) -> Iterator[bytes]:
    """Give values as a consumer gives them."""
    with Consumer(log, "t") as consumer:
        while True:
            for record in consumer.poll(_PATIENCE):
                assert isinstance(record.value, bytes)
                yield record.value
