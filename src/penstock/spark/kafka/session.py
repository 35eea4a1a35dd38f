"""A session in which `format("kafka")` reads our log, where Spark has no Kafka connector."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrameReader, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamReader
from typing_extensions import override

from penstock.spark.kafka.format import STAND_IN

_CONNECTOR = "org.apache.spark.sql.kafka010.KafkaSourceProvider"


class KafkaSession(SparkSession):
    """Spark's session, but for the readers it gives."""

    @property
    @override
    def read(self) -> DataFrameReader:
        return _TableReader(self)

    @property
    @override
    def readStream(self) -> DataStreamReader:
        return _StreamReader(self)


class _TableReader(DataFrameReader):
    @override
    def format(self, source: str) -> DataFrameReader:
        return super().format(_stand_in(self._spark, source))


class _StreamReader(DataStreamReader):
    @override
    def format(self, source: str) -> DataStreamReader:
        return super().format(_stand_in(self._spark, source))


def _stand_in(session: SparkSession, source: str) -> str:
    if source.lower() != "kafka":
        return source
    java: Any = session.sparkContext._jvm  # noqa: SLF001  # py4j has no types
    return source if java.org.apache.spark.util.Utils.classIsLoadable(_CONNECTOR) else STAND_IN
