"""The parts of a program's run that fail once at a commit step named in a file.

Spark's workers cannot import the tests, so this module travels to them by value.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

from pyspark import TaskContext, cloudpickle
from pyspark.sql import DataFrame
from pyspark.sql.datasource import InputPartition
from pyspark.sql.streaming.datasource import ReadLimit
from pyspark.sql.streaming.state import GroupState
from typing_extensions import override

from penstock.log.port import Log
from penstock.log.topic import Topic
from penstock.spark.level import Level
from penstock.spark.packet import Packet
from penstock.spark.program_format import ProgramFormat
from penstock.spark.program_options import ProgramOptions
from penstock.spark.program_sink import ProgramSink
from penstock.spark.program_source import ProgramReader
from penstock.spark.run import Parts
from tests.spark.faulty import FaultyLog, reach

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

BEFORE_OFFSETS = "offsets not yet written"
COMMIT_STEPS = (
    BEFORE_OFFSETS,
    "offsets written",
    "reading",
    "staging rows",
    "rows read",
    "level 0",
    "level 0 done",
    "level 1",
    "level 1 done",
    "sink called",
    "progress not yet written",
    "progress written",
    "begin",
    "append",
    "after append",
    "decide",
    "after decide",
    "commit log not yet written",
)
"""All steps of a batch in their order; those from `begin` to `after decide` are the log's."""


class StoppingReader(ProgramReader):
    @override
    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        found = super().latestOffset(start, limit)
        if found != start:
            reach(self._options.home, BEFORE_OFFSETS)
        return found

    @override
    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        reach(self._options.home, "offsets written")
        return super().partitions(start, end)

    @override
    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        reach(self._options.home, "reading")
        yield from super().read(partition)
        reach(self._options.home, "rows read")


class StoppingLog(FaultyLog):
    def topic(self, name: str) -> Topic:
        if TaskContext.get() is not None and name == "wide":
            reach(self._home, "staging rows")
        return self._inner.topic(name)


class StoppingFormat(ProgramFormat):
    @classmethod
    @override
    def name(cls) -> str:
        return "stopping-program"

    @staticmethod
    @override
    def log_of(home: str) -> Log:
        return cast(Log, StoppingLog(home))

    @override
    def streamReader(self, schema: object) -> StoppingReader:
        return StoppingReader(ProgramOptions.from_texts(self.options), self.log_of)


class StoppingLevel(Level):
    @override
    def __call__(
        self, key: tuple[Any, ...], frames: Iterator[pd.DataFrame], state: GroupState
    ) -> Iterator[pd.DataFrame]:
        reach(self.home, f"level {self.number}")
        yield from Level.__call__(self, key, frames, state)
        reach(self.home, f"level {self.number} done")


class StoppingSink(ProgramSink):
    @override
    def __call__(self, rows: DataFrame, number: int) -> None:
        reach(self.options.home, "sink called")
        ProgramSink.__call__(self, rows, number)
        reach(self.options.home, "commit log not yet written")

    @override
    def commit(self, packets: Sequence[Packet], number: int, millis: int = 0) -> None:
        reach(self.options.home, "progress not yet written")
        ProgramSink.commit(self, packets, number, millis)

    @override
    def publish(self, packets: Sequence[Packet], clock: int, number: int) -> None:
        reach(self.options.home, "progress written")
        ProgramSink.publish(self, packets, clock, number)


STOPPING = Parts(StoppingFormat, StoppingLevel, StoppingSink)

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]
