from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import SchemaError
from penstock.schema.sql_name import sql_name
from penstock.schema.text import parse_type
from penstock.schema.types import (
    BOOLEAN,
    BYTES,
    DATE,
    FLOAT64,
    INT32,
    INT64,
    STRING,
    TIME,
    TIMESTAMP,
    Type,
    array_of,
    decimal_of,
    map_of,
    struct_of,
)

SCALARS = st.sampled_from([BOOLEAN, BYTES, DATE, FLOAT64, INT32, INT64, STRING, TIME, TIMESTAMP])
DECIMALS = st.integers(1, 38).flatmap(
    lambda digits: st.integers(0, digits).map(lambda scale: decimal_of(digits, scale))
)
NAMES = st.text("abcxyz_ é`9", min_size=1, max_size=4)


def nested(inner: st.SearchStrategy[Type]) -> st.SearchStrategy[Type]:
    fields = st.dictionaries(NAMES, inner, min_size=1, max_size=3)
    structs = fields.map(lambda parts: struct_of(**parts))
    return st.one_of(inner.map(array_of), inner.map(map_of), structs)


@given(st.recursive(st.one_of(SCALARS, DECIMALS), nested, max_leaves=5))
def test_a_type_is_read_as_it_is_written(kind: Type) -> None:
    assert parse_type(str(kind)) == kind
    assert parse_type(sql_name(kind)) == kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("bigint", INT64),
        ("INT", INT32),
        ("double", FLOAT64),
        (" array< string > ", array_of(STRING)),
        ("map<string, int64>", map_of(INT64)),
        ("decimal(10,2)", decimal_of(10, 2)),
        ("TIME", TIME),
        ("MAP<VARCHAR, VARCHAR>", map_of(STRING)),
        ("STRUCT<a BIGINT, `b c` TIME>", struct_of(**{"a": INT64, "b c": TIME})),
    ],
)
def test_names_of_sql_are_understood(text: str, kind: Type) -> None:
    assert parse_type(text) == kind


@pytest.mark.parametrize(
    "text",
    [
        "",
        "int65",
        "array",
        "array<int64",
        "array<>",
        "map<int64, string>",
        "decimal(a, 2)",
        "decimal(39, 2)",
        "decimal(2, 3)",
        "struct<a>",
        "struct<: int64>",
        "struct<9: int64>",
        "int64 int64",
        "int64;",
    ],
)
def test_text_that_is_no_type_is_refused(text: str) -> None:
    with pytest.raises(SchemaError, match="TYPE_TEXT") as caught:
        parse_type(text)
    assert f'"{text}"' in caught.value.fact
    assert caught.value.hint


def test_a_misspelt_type_is_corrected() -> None:
    with pytest.raises(SchemaError) as caught:
        parse_type("array<strng>")
    assert caught.value.hint == 'Did you mean "string"?'
