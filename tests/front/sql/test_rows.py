from __future__ import annotations

import pickle
from datetime import timedelta
from typing import Any

import pyarrow as pa
import pytest

from penstock.front.sql.rows import RECORDS, Closing, Opening, row_schema
from penstock.front.sql.schema_statement import HEADERS_TYPE
from penstock.front.sql.source import KeyWindow, RecordFormat, SourceColumn, SqlSource
from penstock.schema.arrow import to_arrow
from penstock.schema.types import BYTES, INT32, STRING
from tests.front.sql.script import TABLE, Script

HEADERS = [{"key": "a", "value": b"1"}, {"key": "b", "value": None}, {"key": "a", "value": b"2"}]


def _source(window: KeyWindow | None = None, *columns: SourceColumn) -> SqlSource:
    own = columns or (SourceColumn("K", STRING, "key"), SourceColumn("V", INT32))
    keys, values = RecordFormat("KAFKA", wrapped=False), RecordFormat("JSON")
    return SqlSource("S", "stream", own, "s", keys, values, window)


def _records(*records: dict[str, Any]) -> pa.Table:
    whole = {"_timestamp": 5, "_partition": 1, "_offset": 9, "_headers": None, "value": None}
    return pa.Table.from_pylist([{**whole, **record} for record in records], to_arrow(RECORDS))


def test_records_become_rows_all_at_once_and_what_cannot_be_read_is_named() -> None:
    records = _records(
        {"_key": b"a", "value": b'{"v": 1}'},
        {"_key": b"b", "value": b"{"},
        {"_key": None, "value": None},
        {"_key": b"\xff", "value": b'{"V": "3"}'},
    )
    found = pickle.loads(pickle.dumps(Opening(_source())))(records)
    assert list(found.failures) == [1, 3]
    assert found.failures[3].startswith("its key: ")
    good = [row for at, row in enumerate(found.rows.to_pylist()) if at not in found.failures]
    system = {"ROWTIME": 5, "ROWPARTITION": 1, "ROWOFFSET": 9, "_headers": None}
    assert good == [
        {"K": "a", "V": 1, "_gone": False, **system},
        {"K": None, "V": None, "_gone": True, **system},
    ]


@pytest.mark.parametrize(
    ("window", "bounds"),
    [
        (KeyWindow("tumbling", timedelta(milliseconds=10)), (20, 30)),
        (KeyWindow("session"), (20, 25)),
    ],
)
def test_the_window_of_a_key_stands_behind_it(window: KeyWindow, bounds: tuple[int, int]) -> None:
    source = _source(window)
    schema = to_arrow(row_schema(source))
    row = {"K": "a", "V": 1, "WINDOWSTART": bounds[0], "WINDOWEND": bounds[1], "_gone": False}
    made = Closing(source)(pa.Table.from_pylist([row], schema)).to_pylist()
    start, end = (bound.to_bytes(8, "big") for bound in bounds)
    assert made[0]["_key"] == b"a" + (end + start if window.kind == "session" else start)
    found = Opening(source)(_records(made[0], {"_key": b"short"}))
    assert list(found.failures) == [1]
    read = found.rows.to_pylist()[0]
    assert (read["K"], read["WINDOWSTART"], read["WINDOWEND"]) == ("a", *bounds)


def test_headers_are_columns() -> None:
    pairs = Opening(
        _source(
            None,
            SourceColumn("V", INT32),
            SourceColumn("A", BYTES, "header", "a"),
            SourceColumn("X", BYTES, "header", "x"),
        )
    )
    rows = pairs(_records({"_headers": HEADERS}, {"_headers": []}, {})).rows.to_pylist()
    assert [(row["A"], row["X"]) for row in rows] == [(b"2", None), (None, None), (None, None)]
    whole = Opening(
        _source(None, SourceColumn("V", INT32), SourceColumn("H", HEADERS_TYPE, "headers"))
    )
    rows = whole(_records({"_headers": None}, {"_headers": HEADERS[:2]})).rows.to_pylist()
    assert rows[0]["H"] == []
    assert rows[1]["H"] == [{"KEY": "a", "VALUE": b"1"}, {"KEY": "b", "VALUE": None}]


def test_a_record_of_a_table_without_a_key_is_left_out() -> None:
    script = Script(f"{TABLE} CREATE TABLE o AS SELECT k, v FROM t;")
    assert script.push("t", None, {"V": 1}) == []
    assert script.push("t", "a", {"V": 1}) == [(b"a", {"V": 1}, 0)]


def test_columns_of_a_key_that_are_null_make_no_key() -> None:
    source = _source()
    rows = pa.Table.from_pylist([{"K": None, "V": 1}], to_arrow(row_schema(source)))
    (made,) = Closing(source)(rows.drop_columns(["_gone", "_headers"])).to_pylist()
    assert made == {"_key": None, "value": b'{"V":1}', "_headers": None}
