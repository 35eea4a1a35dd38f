"""The end of a batch on both sides of a job with a standby: only the lead's rows are published."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import pyarrow as pa
from pyspark.sql import DataFrame
from typing_extensions import override

from penstock.log.port import Appended, Log, Transaction
from penstock.log.record import TopicPartition
from penstock.spark.packet import Packet
from penstock.spark.program_sink import ProgramSink
from penstock.spark.stage import discard
from penstock.spark.standby.station import Station


class _Held:
    """A transaction that stays open from batch to batch, so that whoever takes over fences it."""

    def __init__(self, inner: Transaction) -> None:
        self._inner = inner

    @property
    def note(self) -> str:
        return self._inner.note

    def begin(self) -> None:
        self._inner.begin()

    def append(self, topic: str, partition: int, rows: pa.Table) -> Appended:
        return self._inner.append(topic, partition, rows)

    def commit_offsets(self, group: str, offsets: Mapping[TopicPartition, int]) -> None:
        self._inner.commit_offsets(group, offsets)

    def commit(self, note: str = "") -> None:
        self._inner.commit(note)

    def abort(self) -> None:
        self._inner.abort()

    def close(self) -> None:
        return


class _PublishingLog:
    """A log in which a standby changes nothing, and a lead has one transaction for its life."""

    def __init__(self, inner: Log, station: Station) -> None:
        self._inner = inner
        self._station = station

    def transaction(self, name: str) -> Transaction:  # noqa: ARG002  # it is the job's
        return cast(Transaction, _Held(self._station.transaction))

    def commit(self, group: str, offsets: Mapping[TopicPartition, int], *more: Any) -> None:  # noqa: ANN401
        if self._station.leads:
            self._inner.commit(group, offsets, *more)

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)


def publishing_log(log_of: Callable[[str], Log], station: Station) -> Callable[[str], Log]:
    """Give the logs of a job with a standby."""
    return lambda home: cast(Log, _PublishingLog(log_of(home), station))


@dataclass(frozen=True, slots=True, kw_only=True)
class StandbySink(ProgramSink):
    """Ends batches as any program's does; that of a standby keeps its rows to itself."""

    station: Station

    @override
    def __call__(self, rows: DataFrame, number: int) -> None:
        self.station.before_batch()
        ProgramSink.__call__(self, rows, number)

    @override
    def publish(self, packets: Sequence[Packet], clock: int, number: int) -> None:
        if self.station.may_publish(number):
            ProgramSink.publish(self, packets, clock, number)
            return
        staged = [packet.staged for packet in packets if packet.staged is not None]
        if staged:
            discard(self.options.home, self.options.staging, staged)
