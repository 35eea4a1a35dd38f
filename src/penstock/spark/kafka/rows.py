"""Records as Spark's Kafka connector shows them, with the columns of values whose schema is known.

The connector gives bytes, and `where("address.county = ...")` only means something once they were
read. A topic whose values have a registered schema is read by it, and its columns stand behind
those of the record.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from penstock.errors import RegistryError
from penstock.log.record import (
    HEADERS_COLUMN,
    KEY_COLUMN,
    OFFSET_COLUMN,
    PARTITION_COLUMN,
    TIMESTAMP_COLUMN,
    VALUE_COLUMN,
)
from penstock.schema.arrow import to_arrow
from penstock.schema.codec.codec_cache import CodecCache
from penstock.schema.codec.format import Format
from penstock.schema.codec.port import Codec
from penstock.spark.schema import arrow_schema

_FORMATS = {"AVRO": "avro", "JSON": "json_schema", "PROTOBUF": "protobuf"}
_HEADERS = ArrayType(
    StructType([StructField("key", StringType()), StructField("value", BinaryType())])
)
_RECORD = (
    StructField("key", BinaryType()),
    StructField("value", BinaryType()),
    StructField("topic", StringType()),
    StructField("partition", IntegerType()),
    StructField("offset", LongType()),
    StructField("timestamp", TimestampType()),
    StructField("timestampType", IntegerType()),
)

STORED = (
    *(PARTITION_COLUMN, OFFSET_COLUMN, TIMESTAMP_COLUMN, KEY_COLUMN, HEADERS_COLUMN),
    VALUE_COLUMN,
)
"""The columns of the log that records are made of."""


@dataclass(frozen=True, slots=True)
class KafkaRows:
    """How the records of a topic are shown."""

    topic: str
    headers: bool
    codec: Codec | None

    @property
    def schema(self) -> StructType:
        """The columns that Spark sees."""
        record = [*_RECORD, *([StructField("headers", _HEADERS)] if self.headers else [])]
        names = {field.name.lower() for field in record}
        if self.codec is not None:
            read = from_arrow_schema(to_arrow(self.codec.schema))
            record += [field for field in read.fields if field.name.lower() not in names]
        return StructType(record)

    def shown(self, rows: pa.RecordBatch, wanted: StructType) -> pa.RecordBatch:
        """Give stored rows as records."""
        count = rows.num_rows
        columns = {
            "key": rows.column(KEY_COLUMN),
            "value": rows.column(VALUE_COLUMN),
            "topic": pa.repeat(pa.scalar(self.topic), count),
            "partition": rows.column(PARTITION_COLUMN),
            "offset": rows.column(OFFSET_COLUMN),
            "timestamp": rows.column(TIMESTAMP_COLUMN),
            # 0 is the time that the producer gave, the only kind that the log keeps.
            "timestampType": pa.repeat(pa.scalar(0, pa.int32()), count),
            "headers": rows.column(HEADERS_COLUMN),
        }
        if self.codec is not None and len(wanted) > len(_RECORD) + self.headers:
            columns = {**self._read(rows.column(VALUE_COLUMN)), **columns}
        target = arrow_schema(wanted)
        arrays = [columns[field.name].cast(field.type) for field in target]
        return pa.RecordBatch.from_arrays(arrays, schema=target)

    def _read(self, values: pa.Array) -> dict[str, pa.Array]:
        """Read values; the columns of one that cannot be read are null."""
        assert self.codec is not None
        rows = self.codec.decode(values).rows.combine_chunks()
        return {
            name: pa.concat_arrays(column.chunks) if column.num_chunks else column
            for name, column in zip(rows.column_names, rows.columns, strict=True)
        }


def kafka_rows(topic: str, codecs: CodecCache, *, headers: bool) -> KafkaRows:
    """Look up how a topic's values are read."""
    subject = f"{topic}-value"
    schemas = codecs.schemas
    assert schemas is not None
    try:
        found = schemas.version(subject)
    except RegistryError as error:
        if error.code != "SUBJECT_MISSING":
            raise
        return KafkaRows(topic, headers, None)
    return KafkaRows(
        topic, headers, codecs.of(Format(_FORMATS[found.schema.type], subject=subject), None)
    )
