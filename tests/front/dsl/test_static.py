from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest

from penstock.errors import ModelError, SchemaError
from penstock.front.dsl.static import enriched, spark_table, static
from penstock.kernel.static_rows import static_rows
from penstock.model.join import Pick
from penstock.model.source import Stream
from penstock.model.words import step_words
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT32, INT64, STRING, TIMESTAMP

ROWS = [{"code": "de", "area": 357}, {"code": "fr", "area": None}]


def a_stream() -> Stream:
    return Stream("in", Schema((Field("code", STRING), Field("n", INT64))))


def test_rows_and_tables_of_any_library_are_the_same_table() -> None:
    frame = pl.DataFrame(ROWS)
    tables = [static(ROWS), static(frame), static(frame.to_arrow()), static(frame.to_pandas())]
    assert [str(table.columns) for table in tables[:3]] == ["code string, area int64"] * 3
    assert len({table.name for table in tables[:3]}) == 1
    assert len(set(tables[:3])) == 1
    assert static_rows(tables[1]).rows() == [("de", 357), ("fr", None)]
    assert static_rows(tables[3])["code"].to_list() == ["de", "fr"]


def test_a_schema_says_the_columns_and_their_types() -> None:
    table = static(ROWS, schema={"code": str, "area": INT32, "more": str})
    assert table.columns == Schema(
        (Field("code", STRING), Field("area", INT32), Field("more", STRING))
    )
    assert static_rows(table).rows() == [("de", 357, None), ("fr", None, None)]
    narrow = static(pl.DataFrame(ROWS), schema={"code": str})
    assert static_rows(narrow).columns == ["code"]


def test_times_are_kept_in_milliseconds() -> None:
    at = datetime(2024, 5, 1, 12, 0, 0, 123456, UTC)
    table = static([{"at": at}])
    assert table.columns.field("at").type == TIMESTAMP
    assert static_rows(table)["at"].dt.epoch("ms").item() == int(at.timestamp() * 1000)


def test_rows_that_fit_no_column_are_refused() -> None:
    for rows in ([{"n": "many"}], pa.table({"n": ["many"]})):
        with pytest.raises(SchemaError, match="STATIC_ROWS"):
            static(rows, schema={"n": int})
    with pytest.raises(SchemaError, match="STATIC_ROWS") as refused:
        static(42)
    assert "given as int" in refused.value.fact


def test_files_need_a_schema_and_are_known_by_their_path() -> None:
    with pytest.raises(ModelError, match="STATIC_SCHEMA") as refused:
        static("countries.csv")
    assert "test_static.py:" in refused.value.fact
    table = static("countries.csv", schema={"code": str})
    assert table.name == str(Path("countries.csv").absolute())
    assert table != static("others.csv", schema={"code": str})


def test_columns_with_a_name_that_is_taken_get_a_suffix() -> None:
    step = enriched(a_stream(), [{"code": "de", "n": 1, "x": 2}], "code", suffix="_of_table")
    assert step.columns == (
        Pick("code", "code", "code"),
        Pick("n", "n"),
        Pick("n_of_table", None, "n"),
        Pick("x", None, "x"),
    )


def test_a_join_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(ModelError, match="JOIN_HOW") as refused:
        enriched(a_stream(), ROWS, "code", "full")  # type: ignore[arg-type]
    assert "inner, left, semi, anti" in refused.value.hint


def test_a_misspelt_key_is_named() -> None:
    with pytest.raises(SchemaError, match="COLUMN_MISSING") as refused:
        enriched(a_stream(), ROWS, "kode")
    assert 'join key "kode"' in refused.value.fact


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (static(ROWS), "on code with rows of the program (code string, area int64)"),
        (static("/c.csv", schema={"code": str}), "on code with the file /c.csv"),
        (spark_table("lands", schema={"code": str}), "on code with Spark's table lands"),
    ],
)
def test_it_is_said_which_table_rows_are_joined_with(table: object, words: str) -> None:
    said = step_words(enriched(a_stream(), table, "code", "left"))
    assert (said.kind, said.title) == ("left join", words)
