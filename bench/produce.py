"""Records sent one at a time by a producer that lives on one core."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from bench.child import in_child, use_one_core
from bench.measure import Cost
from bench.result import Measure, Result, Target
from bench.scale import Scale
from penstock.log.open import open_log
from penstock.log.producer import Producer
from penstock.log.topic import Fsync, TopicConfig

_METHOD = (
    "A process kept on one core sends records of 100 bytes one by one with `Producer.send`"
    " (linger 5 ms, batches of up to 1 MiB) and flushes; its sending thread shares the core."
    " Records a second on the clock, from the first `send` to the end of `flush`; processor time"
    " of the process for a million records. Each run is a process of its own."
)


@dataclass(frozen=True, slots=True)
class _Case:
    label: str
    fsync: Fsync
    partitions: int = 1
    keys: int = 0


_CASES = (
    _Case("no keys, fsync=always", "always"),
    _Case("no keys, fsync=os", "os"),
    _Case("1,000 keys over 4 partitions, fsync=os", "os", partitions=4, keys=1000),
)


def run(scale: Scale) -> Result:
    """Measure without keys, synced and not, and with keys over several partitions."""
    records = scale.of(1_000_000, 20_000)
    measures: list[Measure] = []
    for case in _CASES:
        costs = [_send_in_child(scale, case, records) for _ in range(scale.pairs)]
        measures.append(
            Measure(
                label=case.label,
                unit="records/s",
                ours=tuple(records / cost.wall for cost in costs),
                target=Target("at least", 200_000),
            )
        )
        measures.append(
            Measure(
                label=f"{case.label}: processor time",
                unit="CPU-s/million",
                ours=tuple(cost.cpu / records * 1_000_000 for cost in costs),
                lower_is_better=True,
            )
        )
    return Result(
        name="produce",
        title="Record-at-a-time produce on one core",
        method=_METHOD,
        scale=scale.name,
        sizes={"records a run": records, "bytes a record": 100, "runs": scale.pairs},
        measures=tuple(measures),
    )


def _send_in_child(scale: Scale, case: _Case, records: int) -> Cost:
    with scale.home() as home:
        return in_child(_send, home, case, records)


def _send(home: Path, case: _Case, records: int) -> Cost:
    use_one_core()
    with open_log(home) as log, Producer(log) as producer:
        config = TopicConfig(fsync=case.fsync)
        log.create_topic("t", partitions=case.partitions, config=config)
        producer.send("t", b"first")
        producer.flush()
        cpu, wall = time.process_time(), time.perf_counter()
        if case.keys:
            _send_keyed(producer, records, case.keys)
        else:
            _send_plain(producer, records)
        producer.flush()
        return Cost(time.perf_counter() - wall, time.process_time() - cpu)


def _send_plain(producer: Producer, records: int) -> None:
    send, padding = producer.send, b"x" * 90
    for number in range(records):
        send("t", b"%010d%b" % (number, padding))


def _send_keyed(producer: Producer, records: int, keys: int) -> None:
    send, padding = producer.send, b"x" * 90
    names = [b"key-%d" % number for number in range(keys)]
    for number in range(records):
        send("t", b"%010d%b" % (number, padding), key=names[number % keys])
