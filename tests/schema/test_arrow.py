from __future__ import annotations

import pyarrow as pa
import pytest

from penstock.errors import SchemaError
from penstock.schema.arrow import from_arrow, to_arrow
from penstock.schema.schema import Field, Schema
from penstock.schema.text import parse_type

KINDS = (
    "boolean",
    "int32",
    "int64",
    "float64",
    "string",
    "bytes",
    "timestamp",
    "date",
    "time",
    "decimal(10, 2)",
    "array<string>",
    "map<int64>",
    "struct<a: int64, b: array<date>>",
)


def test_a_schema_comes_back_from_arrow_as_it_was() -> None:
    fields = (Field(f"c{n}", parse_type(kind), n % 2 == 0) for n, kind in enumerate(KINDS))
    schema = Schema(tuple(fields))
    assert from_arrow(to_arrow(schema)) == schema


@pytest.mark.parametrize(
    ("found", "kind"),
    [
        (pa.int8(), "int32"),
        (pa.int16(), "int32"),
        (pa.uint32(), "int64"),
        (pa.float32(), "float64"),
        (pa.large_string(), "string"),
        (pa.large_binary(), "bytes"),
        (pa.timestamp("us"), "timestamp"),
        (pa.date64(), "date"),
        (pa.time64("us"), "time"),
        (pa.large_list(pa.string()), "array<string>"),
    ],
)
def test_other_arrow_types_become_the_nearest_we_know(found: pa.DataType, kind: str) -> None:
    assert str(from_arrow(pa.schema([("c", found)]))) == f"c {kind}"


@pytest.mark.parametrize("found", [pa.duration("ms"), pa.map_(pa.int64(), pa.string()), pa.null()])
def test_a_type_without_a_counterpart_is_refused_by_column(found: pa.DataType) -> None:
    with pytest.raises(SchemaError, match="COLUMN_TYPE") as caught:
        from_arrow(pa.schema([("odd", found)]))
    assert '"odd"' in caught.value.fact
