"""The format `faulty`: as `penstock`, but it fails once at the step named in a file.

Spark's workers cannot import the tests, so this module travels to them by value.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

from pyspark import cloudpickle
from pyspark.sql.datasource import InputPartition, WriterCommitMessage
from pyspark.sql.types import StructType
from typing_extensions import override

from penstock.log.port import Log
from penstock.spark.failpoints import FailingLog as FaultyLog
from penstock.spark.failpoints import arm, is_armed, reach
from penstock.spark.format import PenstockFormat
from penstock.spark.options import sink_options, source_options
from penstock.spark.sink import TopicStreamWriter
from penstock.spark.source import TopicStreamReader

if TYPE_CHECKING:
    import pyarrow as pa

STEPS = (
    "plan",
    "read",
    "after read",
    "write",
    "after write",
    "commit",
    "begin",
    "append",
    "after append",
    "decide",
    "after decide",
    "after commit",
    "source commit",
)


class FaultyReader(TopicStreamReader):
    @override
    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        reach(self._options.home, "plan")
        return super().partitions(start, end)

    @override
    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        reach(self._options.home, "read")
        yield from super().read(partition)
        reach(self._options.home, "after read")

    @override
    def commit(self, end: dict[str, Any]) -> None:
        reach(self._options.home, "source commit")
        super().commit(end)


class FaultyWriter(TopicStreamWriter):
    @override
    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        reach(self._options.home, "write")
        message = super().write(iterator)
        reach(self._options.home, "after write")
        return message

    @override
    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        reach(self._options.home, "commit")
        super().commit(messages, batchId)
        reach(self._options.home, "after commit")


class FaultyFormat(PenstockFormat):
    @classmethod
    @override
    def name(cls) -> str:
        return "faulty"

    @staticmethod
    @override
    def log_of(home: str) -> Log:
        return cast(Log, FaultyLog(home))

    @override
    def streamReader(self, schema: StructType) -> FaultyReader:
        return FaultyReader(source_options(self.options), schema, self.log_of)

    @override
    def streamWriter(self, schema: StructType, overwrite: bool) -> FaultyWriter:
        return FaultyWriter(sink_options(self.options), schema, self.log_of)


__all__ = ["STEPS", "FaultyFormat", "FaultyLog", "arm", "is_armed", "reach"]

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]
