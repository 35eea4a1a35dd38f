from __future__ import annotations

import json

import polars as pl

from penstock.kernel.letter import LATE_COLUMNS, dead_letters, late_letters, row_json
from penstock.kernel.port import DEAD_COLUMNS


def test_rows_are_written_as_json_whatever_their_columns() -> None:
    rows = pl.DataFrame(
        {
            "name": ["a", None],
            "number": [1.5, float("nan")],
            "raw": [b"\x00\xff", b""],
            "at": pl.Series([0, 1], dtype=pl.Datetime("ms", "UTC")),
            "list": [[1, 2], None],
            "hidden": [1, 2],
        }
    )
    first, second = (json.loads(text) for text in row_json(rows, rows.columns[:-1]))
    assert first["name"] == "a"
    assert first["number"] == 1.5
    assert first["raw"] == "AP8="
    assert first["at"].startswith("1970-01-01T00:00:00")
    assert first["list"] == [1, 2]
    assert "hidden" not in first
    assert second["number"] == "NaN"
    assert second["list"] is None


def test_a_row_with_a_time_that_no_calendar_has_is_written_with_numbers() -> None:
    rows = pl.DataFrame(
        {
            "at": pl.Series([1, 2**62, None], dtype=pl.Datetime("ms", "UTC")),
            "day": pl.Series([1, 2, -(2**31)], dtype=pl.Int32).cast(pl.Date),
        }
    )
    assert [json.loads(text) for text in row_json(rows, rows.columns)] == [
        {"at": "1970-01-01T00:00:00.001+00:00", "day": "1970-01-02"},
        {"at": 2**62, "day": 2},
        {"at": None, "day": -(2**31)},
    ]


def test_bytes_inside_of_lists_are_written_too() -> None:
    rows = pl.DataFrame({"raws": [[b"a"], []], "inner": [{"raw": b"b"}, {"raw": None}]})
    assert [json.loads(text) for text in row_json(rows, rows.columns)] == [
        {"raws": ["YQ=="], "inner": {"raw": "Yg=="}},
        {"raws": [], "inner": {"raw": None}},
    ]


def test_rows_without_columns_are_empty_objects() -> None:
    assert row_json(pl.DataFrame({"_time": [1, 2]}), ["gone"]).to_list() == ["{}", "{}"]


def test_late_rows_and_dead_letters_have_always_the_same_columns() -> None:
    rows = pl.DataFrame({"n": [1], "_time": [5], "_reason": ["window gone"]})
    late = late_letters(rows, ["n"], step="agg-1", site="a.py:3")
    assert late.schema == pl.Schema(LATE_COLUMNS)
    assert late.row(0) == ("agg-1", "a.py:3", "window gone", '{"n":1}', 5)
    assert late_letters(rows.drop("_reason"), ["n"], step="s", site="")["reason"][0] == "late"
    dead = dead_letters(rows, ["n"], step="in", site="", error="why")
    assert dead.schema == pl.Schema(DEAD_COLUMNS)
    assert dead.row(0)[:6] == ("in", "", "why", None, '{"n":1}', 5)
    assert dead.row(0)[6:] == (None,) * 7, "of which record it was is not known"
