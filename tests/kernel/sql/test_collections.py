from __future__ import annotations

from typing import Any

import pytest

from penstock.front.sql.functions.tables import resolve_table_function
from penstock.kernel.columns import from_rows
from penstock.kernel.expression import lower
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT32, STRING, array_of, map_of
from tests.front.sql.functions.evaluated import evaluate, resolve, shown

COLUMNS = {
    "A": array_of(INT32),
    "N": array_of(array_of(STRING)),
    "M": map_of(INT32),
    "I": INT32,
}
ROW = ([0, 0, None, 1, -1], [["a"], ["b"], ["a"]], {"b": 2, "a": 1}, 10)
EMPTY: tuple[Any, ...] = ([], [], {}, 10)
NULLS = (None, None, None, None)


@pytest.mark.parametrize(
    ("text", "expected", "of_empty", "of_nulls"),
    [
        ("ARRAY_LENGTH(A)", 5, 0, None),
        ("ARRAY_MIN(A)", -1, None, None),
        ("ARRAY_MAX(A)", 1, None, None),
        ("ARRAY_SORT(A)", [-1, 0, 0, 1, None], [], None),
        ("ARRAY_SORT(A, 'desc')", [1, 0, 0, -1, None], [], None),
        ("ARRAY_SORT(A, 'sideways')", None, None, None),
        ("ARRAY_DISTINCT(A)", [0, None, 1, -1], [], None),
        ("ARRAY_DISTINCT(N)", [["a"], ["b"]], [], None),
        ("ARRAY_CONTAINS(A, 1)", True, False, False),
        ("ARRAY_CONTAINS(A, NULL)", True, False, False),
        ("ARRAY_CONTAINS(N, ARRAY['b'])", True, False, None),
        ("ARRAY_UNION(A, ARRAY[1, 5])", [0, None, 1, -1, 5], [1, 5], None),
        ("ARRAY_UNION(N, N)", [["a"], ["b"]], [], None),
        ("ARRAY_EXCEPT(A, ARRAY[0, -1])", [None, 1], [], None),
        ("ARRAY_INTERSECT(A, ARRAY[1, 0])", [0, 1], [], None),
        ("ARRAY_CONCAT(A, ARRAY[7])", [0, 0, None, 1, -1, 7], [7], [7]),
        ("ARRAY_CONCAT(A, A)", [*ROW[0], *ROW[0]], [], None),
        ("ARRAY_REMOVE(A, 0)", [None, 1, -1], [], None),
        ("ARRAY_REMOVE(N, ARRAY['a'])", [["b"]], [], None),
        ("ARRAY_JOIN(A)", "0,0,null,1,-1", "", None),
        ("ARRAY_JOIN(A, NULL)", "00null1-1", "", None),
        ("SLICE(A, 2, 4)", [0, None, 1], None, None),
        ("SLICE(A, NULL, 1)", [0], None, None),
        ("MAP_KEYS(M)", ["b", "a"], [], None),
        ("MAP_VALUES(M)", [2, 1], [], None),
        ("MAP_UNION(M, MAP('a' := 9))", {"b": 2, "a": 9}, {"a": 9}, {"a": 9}),
        ("ENTRIES(M, TRUE)", [{"K": "a", "V": 1}, {"K": "b", "V": 2}], [], None),
        ("AS_MAP(ARRAY['x'], A)", {"x": 0}, {"x": None}, None),
        ("ARRAY_JOIN(N)", None, None, None),
        ("CAST(N AS ARRAY<STRING>)", ["[a]", "[b]", "[a]"], [], None),
        ("TRANSFORM(N, x => ARRAY_LENGTH(x) + I)", [11, 11, 11], [], None),
        ("TRANSFORM(N, x => TRANSFORM(x, y => UCASE(y)))", [["A"], ["B"], ["A"]], [], None),
        (
            "TRANSFORM(N, x => TRANSFORM(x, y => CONCAT(y, x[1])))",
            [["aa"], ["bb"], ["aa"]],
            [],
            None,
        ),
        ("TRANSFORM(A, x => x + I)", None, [], None),
        ("TRANSFORM(A, x => 1)", [1, 1, 1, 1, 1], [], None),
        ("TRANSFORM(M, (k, v) => UCASE(k), (k, v) => v * I)", {"B": 20, "A": 10}, {}, None),
        ("TRANSFORM(M, (k, v) => 'same', (k, v) => v)", {"same": 1}, {}, None),
        ("FILTER(A, x => x > -1)", [0, 0, 1], [], None),
        ("FILTER(M, (k, v) => v > 1 AND I = 10)", {"b": 2}, {}, None),
        ("REDUCE(ARRAY_REMOVE(A, NULL), 5, (s, x) => s + x)", 5, 5, 5),
        ("REDUCE(A, 5, (s, x) => s + x)", None, 5, 5),
        ("REDUCE(M, 0, (s, k, v) => s + v * LEN(k))", 3, 0, 0),
        ("REDUCE(A, I, (s, x) => I)", 10, 10, None),
    ],
)
def test_functions_of_arrays_and_maps(
    text: str,
    expected: Any,  # noqa: ANN401
    of_empty: Any,  # noqa: ANN401
    of_nulls: Any,  # noqa: ANN401
) -> None:
    assert evaluate(text, COLUMNS, [ROW, EMPTY, NULLS]) == [expected, of_empty, of_nulls]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("GENERATE_SERIES(1, 4)", "[1, 2, 3, 4]"),
        ("GENERATE_SERIES(4, 1)", "[4, 3, 2, 1]"),
        ("GENERATE_SERIES(1, 9, 0)", "null"),
        ("GENERATE_SERIES(1, 9, -1)", "null"),
        ("GENERATE_SERIES(5000000000, 5000000001)", "[5000000000, 5000000001]"),
        ("STRUCT()", "Struct{}"),
        ("MAP('a' := 1, NULL := 2)", "{a=1, null=2}"),
        ("MAP_KEYS(MAP(1 := 'a'))", "[1]"),
        ("MAP(1 := 'a')[1]", "a"),
        ("AS_VALUE(ARRAY[1])", "[1]"),
        ("TRANSFORM(ARRAY[1], x => x + 1)[1]", "2"),
    ],
)
def test_arrays_and_maps_of_constants(text: str, expected: str) -> None:
    assert shown(text) == expected


def test_an_array_is_made_for_every_row() -> None:
    assert evaluate("ARRAY[I, 1]", {"I": INT32}, [(2,), (3,)]) == [[2, 1], [3, 1]]


def test_functions_of_no_rows_give_no_rows() -> None:
    for text in ("TRANSFORM(A, x => x + 1)", "REDUCE(A, 0, (s, x) => s + x)", "ARRAY[I]"):
        assert evaluate(text, COLUMNS, []) == []


def test_a_cube_has_each_choice_of_items_once() -> None:
    typed = resolve_table_function("CUBE_EXPLODE", [resolve("A", COLUMNS)])
    schema = Schema(tuple(Field(name, type_) for name, type_ in COLUMNS.items()))
    rows: list[dict[str, Any]] = [{"A": [1, None, 2]}, {"A": [1] * 21}, {"A": None}]
    found = from_rows(rows, schema).select(lower(typed.expr, schema).alias("found"))
    cube = [[None, None, None], [None, None, 2], [1, None, None], [1, None, 2]]
    assert found["found"].to_list() == [cube, None, None]
