from __future__ import annotations

import pytest

from penstock.schema.sql_name import sql_name
from penstock.schema.text import parse_type
from penstock.schema.types import STRING, struct_of


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("int64", "BIGINT"),
        ("int32", "INT"),
        ("string", "VARCHAR"),
        ("float64", "DOUBLE"),
        ("boolean", "BOOLEAN"),
        ("bytes", "BYTES"),
        ("decimal(10, 2)", "DECIMAL(10, 2)"),
        ("date", "DATE"),
        ("time", "TIME"),
        ("timestamp", "TIMESTAMP"),
        ("array<string>", "ARRAY<VARCHAR>"),
        ("map<string>", "MAP<VARCHAR, VARCHAR>"),
        ("struct<a: int64, b: array<time>>", "STRUCT<a BIGINT, b ARRAY<TIME>>"),
    ],
)
def test_a_type_is_shown_as_sql_calls_it_and_read_again(text: str, name: str) -> None:
    assert sql_name(parse_type(text)) == name
    assert parse_type(name) == parse_type(text)


def test_a_name_that_is_no_word_is_quoted() -> None:
    assert sql_name(struct_of(**{"my name": STRING})) == "STRUCT<`my name` VARCHAR>"
