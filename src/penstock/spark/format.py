"""The format `penstock`: what `spark.read`, `readStream`, `write` and `writeStream` are given."""

from __future__ import annotations

from pyspark.sql.datasource import DataSource
from pyspark.sql.types import StructType
from typing_extensions import override

from penstock.errors import UsageError
from penstock.log.port import Log
from penstock.spark.handle import worker_log
from penstock.spark.options import sink_options, source_options
from penstock.spark.schema import spark_schema
from penstock.spark.sink import TopicStreamWriter, TopicWriter
from penstock.spark.source import TopicReader, TopicStreamReader


class PenstockFormat(DataSource):
    """Topics as tables and streams, and writes that are seen once and whole."""

    @classmethod
    @override
    def name(cls) -> str:
        return "penstock"

    @staticmethod
    def log_of(home: str) -> Log:
        """Open the log; tests put a failing one in its place."""
        return worker_log(home)

    @override
    def schema(self) -> StructType:
        options = source_options(self.options)
        return spark_schema(self.log_of(options.home).topic(options.topic), options.columns)

    @override
    def reader(self, schema: StructType) -> TopicReader:
        return TopicReader(source_options(self.options), schema, self.log_of)

    @override
    def streamReader(self, schema: StructType) -> TopicStreamReader:
        return TopicStreamReader(source_options(self.options), schema, self.log_of)

    @override
    def writer(self, schema: StructType, overwrite: bool) -> TopicWriter:
        _refuse_overwrite(overwrite=overwrite)
        return TopicWriter(sink_options(self.options), schema, self.log_of)

    @override
    def streamWriter(self, schema: StructType, overwrite: bool) -> TopicStreamWriter:
        _refuse_overwrite(overwrite=overwrite)
        return TopicStreamWriter(sink_options(self.options), schema, self.log_of)


def _refuse_overwrite(*, overwrite: bool) -> None:
    if overwrite:
        raise UsageError(
            "SINK_OVERWRITE",
            "a topic only grows, and the query would replace its content",
            hint='Write with .mode("append"), or .outputMode("append") or "update" for a stream.',
        )
