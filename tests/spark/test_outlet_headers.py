from __future__ import annotations

import polars as pl

from penstock.log.record import HEADERS_COLUMN
from penstock.log.rows import BYTES_SCHEMA, HEADERS_TYPE
from penstock.spark.outlet import Outlet

KIND = pl.List(pl.Struct({"key": pl.String(), "value": pl.Binary()}))


def test_a_column_of_headers_becomes_those_of_the_record() -> None:
    given = [[{"key": "a", "value": b"x"}, {"key": "b", "value": None}], [], None]
    frame = pl.DataFrame(
        {
            "_key": [b"k", b"k", None],
            "value": [b"1", b"2", None],
            HEADERS_COLUMN: pl.Series(given, dtype=KIND),
            "_time": [1, 2, 3],
        }
    )
    outlet = Outlet("o", "o", BYTES_SCHEMA, ("_key",), raw=True, headers=True)
    assert HEADERS_COLUMN in outlet.columns
    records = outlet.records(frame, 0)
    assert records.schema.field(HEADERS_COLUMN).type == HEADERS_TYPE
    assert records.column(HEADERS_COLUMN).to_pylist() == [given[0], None, None]
