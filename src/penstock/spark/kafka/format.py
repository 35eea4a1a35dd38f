"""The format `kafka` where Spark has no Kafka connector: its options and columns, on our log.

A program written for the connector runs unchanged: `kafka.bootstrap.servers` are the brokers of a
cluster, the address that `penstock log serve` answers at, or a home directory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql.datasource import Filter, InputPartition
from pyspark.sql.types import StructType
from typing_extensions import override

from penstock.log.port import Log
from penstock.spark.format import PenstockFormat
from penstock.spark.handle import worker_codecs
from penstock.spark.kafka.options import (
    kafka_source_options,
    registry_url,
    wants_headers,
)
from penstock.spark.kafka.rows import STORED, KafkaRows, kafka_rows
from penstock.spark.options import SourceOptions
from penstock.spark.schema import spark_schema
from penstock.spark.source import TopicReader, TopicStreamReader

if TYPE_CHECKING:
    import pyarrow as pa


STAND_IN = "penstock-kafka"
"""The name by which Spark knows the format: it lets nobody else be called "kafka"."""


class KafkaFormat(PenstockFormat):
    """Topics of bytes as the connector shows them."""

    @classmethod
    @override
    def name(cls) -> str:
        return STAND_IN

    @override
    def schema(self) -> StructType:
        return self._rows().schema

    @override
    def reader(self, schema: StructType) -> TopicReader:
        options = kafka_source_options(self.options, stream=False)
        return _KafkaReader(options, self._stored(options), self.log_of, _Shown(self._rows, schema))

    @override
    def streamReader(self, schema: StructType) -> TopicStreamReader:
        options = kafka_source_options(self.options, stream=True)
        return _KafkaStreamReader(
            options, self._stored(options), self.log_of, _Shown(self._rows, schema)
        )

    def _rows(self) -> KafkaRows:
        options = kafka_source_options(self.options, stream=False)
        # A topic that is not there is said before its schema is looked for.
        self.log_of(options.home).topic(options.topic)
        codecs = worker_codecs(options.home, registry_url(self.options))
        return kafka_rows(options.topic, codecs, headers=wants_headers(self.options))

    def _stored(self, options: SourceOptions) -> StructType:
        return spark_schema(self.log_of(options.home).topic(options.topic), STORED)


@dataclass(frozen=True, slots=True)
class _Shown:
    """How stored rows are shown; looked up where they are read, since codecs do not travel."""

    rows: Callable[[], KafkaRows]
    wanted: StructType

    def records(self, stored: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = self.rows()
        for batch in stored:
            yield rows.shown(batch, self.wanted)


class _KafkaReader(TopicReader):
    def __init__(
        self,
        options: SourceOptions,
        stored: StructType,
        log_of: Callable[[str], Log],
        shown: _Shown,
    ) -> None:
        super().__init__(options, stored, log_of)
        self._shown = shown

    @override
    def pushFilters(self, filters: list[Filter]) -> list[Filter]:
        # Filters name the columns that are shown, not those of the log.
        return filters

    @override
    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return self._shown.records(super().read(partition))


class _KafkaStreamReader(TopicStreamReader):
    def __init__(
        self,
        options: SourceOptions,
        stored: StructType,
        log_of: Callable[[str], Log],
        shown: _Shown,
    ) -> None:
        super().__init__(options, stored, log_of)
        self._shown = shown

    @override
    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return self._shown.records(super().read(partition))
