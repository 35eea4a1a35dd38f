from __future__ import annotations

from datetime import UTC, date, datetime, time
from typing import Any

import polars as pl
import pytest

from penstock.kernel.columns import from_rows
from penstock.kernel.record_key import NO_KEY, key_columns, key_text
from penstock.kernel.tombstone import without_tombstones
from penstock.model.source import Stream
from penstock.schema.annotation import schema_of
from penstock.schema.schema import Field, Schema

COLUMNS = schema_of({"id": "int64", "name": "string"})
ROWS = pl.DataFrame(
    {
        "id": [1, None, None],
        "name": ["a", None, None],
        "_key": [b"1", b"2", b"no number"],
        "_deleted": [None, True, True],
    }
)


def test_a_stream_leaves_tombstones_out() -> None:
    found = without_tombstones(ROWS.drop("_key"), Stream("t", COLUMNS))
    assert found.to_dicts() == [{"id": 1, "name": "a"}]


def test_a_table_turns_them_into_deletions_of_keys_that_can_be_read() -> None:
    found = without_tombstones(ROWS, Stream("t", COLUMNS, key=("id",)))
    assert found.to_dicts() == [
        {"id": 1, "name": "a", "_weight": 1},
        {"id": 2, "name": None, "_weight": -1},
    ]


def test_the_key_that_stands_for_null_deletes_the_row_without_a_key() -> None:
    rows = ROWS.with_columns(pl.Series("_key", [b"1", NO_KEY, b"x"], dtype=pl.Binary))
    found = without_tombstones(rows, Stream("t", COLUMNS, key=("id",)))
    assert found.to_dicts()[1:] == [{"id": None, "name": None, "_weight": -1}]


def test_rows_without_tombstones_stay_as_they_are() -> None:
    rows = ROWS.head(1)
    assert without_tombstones(rows, Stream("t", COLUMNS, key=("id",))).columns == ["id", "name"]
    plain = pl.DataFrame({"id": [1]})
    assert without_tombstones(plain, Stream("t", COLUMNS)).equals(plain)


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("int32", [1, -5]),
        ("int64", [2**60, 0]),
        ("string", ["a", "ü"]),
        ("boolean", [True, False]),
        ("bytes", [b"\xff", b""]),
        ("float64", [1.5, -0.25]),
        ("date", [date(2026, 11, 16), date(1970, 1, 1)]),
        ("time", [time(1, 2, 3, 4000), time(0)]),
        (
            "timestamp",
            [datetime(2026, 11, 16, 1, 2, 3, 4000, UTC), datetime(1970, 1, 1, tzinfo=UTC)],
        ),
    ],
)
def test_the_key_of_a_record_can_be_read_back(kind: str, values: list[Any]) -> None:
    field = schema_of({"k": kind}).fields[0]
    _read_back(Schema((field,)), [{"k": value} for value in values])


def test_a_key_of_several_columns_can_be_read_back() -> None:
    _read_back(
        schema_of({"k": "int64", "name": "string"}),
        [{"k": 1, "name": "a"}, {"k": None, "name": 'quote "'}],
    )


def _read_back(schema: Schema, rows: list[dict[str, Any]]) -> None:
    frame = from_rows(rows, schema)
    keys = frame.select(key_text(frame, schema.names).alias("key"))["key"]
    fields: tuple[Field, ...] = schema.fields
    assert pl.DataFrame(key_columns(keys, fields)).to_dicts() == frame.to_dicts()


BYTES = schema_of({"_key": "bytes", "value": "bytes"})
RECORDS = pl.DataFrame({"_key": [b"a", b"b", None], "value": [b"1", None, b"3"]})


def test_a_stream_of_bytes_keeps_records_without_a_key_or_a_value() -> None:
    assert without_tombstones(RECORDS, Stream("t", BYTES)).equals(RECORDS)


def test_in_a_table_of_bytes_a_record_without_a_value_deletes() -> None:
    found = without_tombstones(RECORDS, Stream("t", BYTES, key=("_key",)))
    assert found.rows() == [(b"a", b"1", 1), (b"b", None, -1)]
