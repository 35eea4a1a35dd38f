"""Many processes at once: what they write and read together, and what a group gains by members."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from multiprocessing.sharedctypes import SynchronizedArray
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import NamedTuple

from bench.child import SPAWN, Work, all_at_once
from bench.result import Measure, Result, Target
from bench.scale import Scale
from bench.workload import MEGABYTE, MIB, bytes_rows
from penstock.log.consumer import Consumer
from penstock.log.open import open_log
from penstock.log.record import TopicPartition
from penstock.log.rows import rows_of_bytes
from penstock.log.topic import Fsync, TopicConfig

_RECORD_BYTES = 100
_BATCH = MIB // (_RECORD_BYTES + 4)
_PARTITIONS = 3
# When a process of a crowd dies, the others must not wait for it for ever.
_PATIENCE = 60.0
_HUNDREDS = Target("at least", 200)
_METHOD = (
    "Producer processes append Arrow batches of 1 MiB (records of 100 bytes), each to a partition"
    " of its own; consumer processes read the partitions at the same time, as they fill, through"
    " `Consumer.poll_batch`; the first batch of each does not count. Rates are of all clients"
    " together, from the first start to the last end; MB count the tables' bytes. The number of"
    " clients is bounded by the cores here, not by the log: there is no server. The group: 1 or 3"
    " processes share a topic of 3 partitions and sleep 1 ms for each record; the time includes"
    " joining and rebalancing."
)


class _Span(NamedTuple):
    """When a client began and ended, on the clock all processes share."""

    began: float
    ended: float


class _Crowd(NamedTuple):
    producers: int
    consumers: int
    fsync: Fsync


def run(scale: Scale) -> Result:
    """Measure 1 to 8 clients on each side, and a group of 1 against one of 3."""
    total = scale.of(512 * MIB, 4 * MIB)
    repeats = scale.of(5, 1)
    numbers = (1, 2, 4, 8) if not scale.quick else (1, 2)
    crowds = [_Crowd(count, count, "os") for count in numbers]
    crowds.append(_Crowd(numbers[-1], numbers[-1], "always"))
    measures = [item for crowd in crowds for item in _crowd(scale, crowd, total, repeats)]
    records = scale.of(3000, 150)
    return Result(
        name="clients",
        title="Many clients at once, and a group with more members",
        method=_METHOD,
        baseline="for the group: one member",
        scale=scale.name,
        sizes={"bytes a run": total, "runs": repeats, "records of the group": records},
        measures=(*measures, _group(scale, records, repeats)),
    )


def _crowd(scale: Scale, crowd: _Crowd, total: int, repeats: int) -> Iterator[Measure]:
    batches = max(1, total // MIB // crowd.producers)
    records = batches * _BATCH * crowd.producers
    size = batches * bytes_rows(_BATCH, size=_RECORD_BYTES).nbytes * crowd.producers
    runs = [_run_crowd(scale, crowd, batches) for _ in range(repeats)]
    label = f"producers {crowd.producers}, consumers {crowd.consumers}, fsync={crowd.fsync}"
    for side, times in (("written", [run[0] for run in runs]), ("read", [run[1] for run in runs])):
        rates = tuple(size / MEGABYTE / taken for taken in times)
        target = _HUNDREDS if crowd.fsync == "os" else None
        yield Measure(label=f"{label}: {side}", unit="MB/s", ours=rates, target=target)
        yield Measure(
            label=f"{label}: {side}",
            unit="records/s",
            ours=tuple(records / taken for taken in times),
        )


def _run_crowd(scale: Scale, crowd: _Crowd, batches: int) -> tuple[float, float]:
    """Give the seconds all producers took together, and all consumers."""
    with scale.home() as home:
        with open_log(home) as log:
            config = TopicConfig(fsync=crowd.fsync)
            log.create_topic("t", partitions=crowd.producers, config=config)
        barrier = SPAWN.Barrier(crowd.producers + crowd.consumers)
        work: list[Work[_Span]] = [
            (_produce, (home, barrier, number, batches)) for number in range(crowd.producers)
        ]
        for number in range(crowd.consumers):
            share = range(number, crowd.producers, crowd.consumers)
            work.append((_consume, (home, barrier, share, batches * _BATCH)))
        spans = all_at_once(work)
    return _together(spans[: crowd.producers]), _together(spans[crowd.producers :])


def _produce(home: Path, barrier: Barrier, partition: int, batches: int) -> _Span:
    rows = bytes_rows(_BATCH, size=_RECORD_BYTES, seed=partition)
    with open_log(home) as log:
        log.append("t", partition, rows)
        barrier.wait(_PATIENCE)
        began = time.monotonic()
        for _ in range(batches):
            log.append("t", partition, rows)
        return _Span(began, time.monotonic())


def _consume(home: Path, barrier: Barrier, partitions: Iterable[int], records: int) -> _Span:
    places = [TopicPartition("t", number) for number in partitions]
    with open_log(home) as log, Consumer(log, partitions=places) as consumer:
        _read(consumer, _BATCH * len(places))
        barrier.wait(_PATIENCE)
        began = time.monotonic()
        _read(consumer, records * len(places))
        return _Span(began, time.monotonic())


def _read(consumer: Consumer, records: int) -> None:
    while records > 0:
        batch = consumer.poll_batch()
        records -= 0 if batch is None else batch.rows.num_rows


def _group(scale: Scale, records: int, repeats: int) -> Measure:
    taken = [(_run_group(scale, 3, records), _run_group(scale, 1, records)) for _ in range(repeats)]
    return Measure(
        label=f"group of 3 against 1 on {_PARTITIONS} partitions, 1 ms a record",
        unit="s",
        ours=tuple(three for three, _ in taken),
        baseline=tuple(one for _, one in taken),
        lower_is_better=True,
        target=Target("at least", 1.5),
    )


def _run_group(scale: Scale, members: int, records: int) -> float:
    each = records // _PARTITIONS
    with scale.home() as home:
        with open_log(home) as log:
            log.create_topic("t", partitions=_PARTITIONS, config=TopicConfig(fsync="os"))
            for partition in range(_PARTITIONS):
                log.append("t", partition, rows_of_bytes([b"x" * _RECORD_BYTES] * each))
        barrier = SPAWN.Barrier(members)
        done = SPAWN.Array("q", _PARTITIONS)
        work: list[Work[_Span]] = [(_process, (home, barrier, done, each))] * members
        return _together(all_at_once(work))


def _process(home: Path, barrier: Barrier, done: SynchronizedArray[int], each: int) -> _Span:
    """Be a member until the group has processed every record of every partition."""
    ended = 0.0
    with open_log(home) as log:
        barrier.wait(_PATIENCE)
        began = time.monotonic()
        with Consumer(log, "t", group="g", max_poll_records=20) as consumer:
            while sum(done[:]) < each * _PARTITIONS:
                for record in consumer.poll(0.1):
                    time.sleep(0.001)
                    done[record.partition] = max(done[record.partition], record.offset + 1)
                    ended = time.monotonic()
    return _Span(began, max(began, ended))


def _together(spans: list[_Span]) -> float:
    return max(span.ended for span in spans) - min(span.began for span in spans)
