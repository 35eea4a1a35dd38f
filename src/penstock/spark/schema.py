"""The columns of a topic as Spark has them, and the casts between the two."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
from pyspark.errors import PySparkTypeError
from pyspark.sql.pandas.types import from_arrow_type, to_arrow_schema
from pyspark.sql.types import (
    ArrayType,
    DataType,
    DecimalType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    ShortType,
    StructField,
    StructType,
    TimestampType,
    TimeType,
)

from penstock.errors import SchemaError, did_you_mean
from penstock.log.record import OFFSET_COLUMN, PARTITION_COLUMN, TIMESTAMP_COLUMN
from penstock.log.rows import row_schema
from penstock.log.topic import Topic

# Arrow has types that Spark has not: each goes to the narrowest one that holds its values.
_WIDER: dict[pa.DataType, DataType] = {
    pa.uint8(): ShortType(),
    pa.uint16(): IntegerType(),
    pa.uint32(): LongType(),
    pa.uint64(): DecimalType(20, 0),
    pa.float16(): FloatType(),
    pa.time32("s"): TimeType(),
    pa.time32("ms"): TimeType(),
    pa.date64(): TimestampType(),
}


def spark_schema(topic: Topic, columns: Iterable[str] = ()) -> StructType:
    """The columns Spark reads from a topic: all of them, or those asked for, in their order."""
    fields = [StructField(PARTITION_COLUMN, IntegerType(), nullable=False)]
    for field in row_schema(topic):
        if field.name == TIMESTAMP_COLUMN:
            fields.append(StructField(field.name, TimestampType(), nullable=False))
        else:
            # A tombstone has no values, so even columns that say "not null" may have none.
            nullable = field.name != OFFSET_COLUMN
            fields.append(StructField(field.name, _spark_type(field.type, topic), nullable))
    known = {field.name: field for field in fields}
    return (
        StructType([_pick(known, name, topic) for name in columns])
        if columns
        else StructType(fields)
    )


def check_readable(schema: StructType, topic: Topic) -> None:
    """Refuse a schema given by the user that names columns the topic has not."""
    known = {field.name: field for field in spark_schema(topic).fields}
    for name in schema.fieldNames():
        _pick(known, name, topic)


def arrow_schema(schema: StructType) -> pa.Schema:
    """The very Arrow schema that Spark expects of rows with these columns."""
    return to_arrow_schema(schema, timezone="UTC")


def log_columns(schema: StructType) -> tuple[str, ...]:
    """The columns to ask of the log; one at least, since rows without columns have no number."""
    names = tuple(name for name in schema.fieldNames() if name != PARTITION_COLUMN)
    return names or (OFFSET_COLUMN,)


def _pick(known: dict[str, StructField], name: str, topic: Topic) -> StructField:
    if name not in known:
        raise SchemaError(
            "COLUMN_UNKNOWN",
            f'column "{name}" does not exist in topic "{topic.name}"',
            hint=did_you_mean(name, known) or f"Its columns: {', '.join(known)}.",
        )
    return known[name]


def _spark_type(kind: pa.DataType, topic: Topic) -> DataType:
    if kind in _WIDER:
        return _WIDER[kind]
    if pa.types.is_map(kind):
        return MapType(_spark_type(kind.key_type, topic), _spark_type(kind.item_type, topic))
    if pa.types.is_struct(kind):
        return StructType([StructField(item.name, _spark_type(item.type, topic)) for item in kind])
    if _is_list(kind):
        return ArrayType(_spark_type(kind.value_type, topic))
    try:
        return from_arrow_type(kind)
    except PySparkTypeError as error:
        raise SchemaError(
            "COLUMN_TYPE",
            f'topic "{topic.name}" has a column of type {kind}, which Spark has not',
            hint="Read it without Spark, or leave it out with the option columns.",
        ) from error


def _is_list(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    )
