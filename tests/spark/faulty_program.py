"""The parts of a program's run that fail once, at the step named in a file.

Spark's workers cannot import the tests, so this module travels to them by value.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

from pyspark import cloudpickle
from pyspark.sql import DataFrame
from pyspark.sql.datasource import InputPartition
from pyspark.sql.streaming.state import GroupState
from typing_extensions import override

from penstock.log.port import Log
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

PROGRAM_STEPS = (
    "plan",
    "read",
    "after read",
    "operator",
    "after operator",
    "batch",
    "commit",
    "publish",
    "begin",
    "append",
    "after append",
    "decide",
    "after decide",
    "after commit",
)


class FaultyProgramReader(ProgramReader):
    @override
    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        reach(self._options.home, "plan")
        return super().partitions(start, end)

    @override
    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        reach(self._options.home, "read")
        yield from super().read(partition)
        reach(self._options.home, "after read")


class FaultyProgramFormat(ProgramFormat):
    @classmethod
    @override
    def name(cls) -> str:
        return "faulty-program"

    @staticmethod
    @override
    def log_of(home: str) -> Log:
        return cast(Log, FaultyLog(home))

    @override
    def streamReader(self, schema: object) -> FaultyProgramReader:
        return FaultyProgramReader(ProgramOptions.from_texts(self.options), self.log_of)


class FaultyLevel(Level):
    @override
    def __call__(
        self, key: tuple[Any, ...], frames: Iterator[pd.DataFrame], state: GroupState
    ) -> Iterator[pd.DataFrame]:
        reach(self.home, "operator")
        yield from Level.__call__(self, key, frames, state)
        reach(self.home, "after operator")


class FaultySink(ProgramSink):
    @override
    def __call__(self, rows: DataFrame, number: int) -> None:
        reach(self.options.home, "batch")
        ProgramSink.__call__(self, rows, number)
        reach(self.options.home, "after commit")

    @override
    def commit(self, packets: Sequence[Packet], number: int, millis: int = 0) -> None:
        reach(self.options.home, "commit")
        ProgramSink.commit(self, packets, number, millis)

    @override
    def publish(self, packets: Sequence[Packet], clock: int, number: int) -> None:
        reach(self.options.home, "publish")
        ProgramSink.publish(self, packets, clock, number)


FAULTY = Parts(FaultyProgramFormat, FaultyLevel, FaultySink)

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]
