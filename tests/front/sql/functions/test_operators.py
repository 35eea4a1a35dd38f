from __future__ import annotations

from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import pytest

from penstock.errors import SqlError
from penstock.front.sql.functions.operators import text_as_millis
from penstock.front.sql.functions.typed import Typed
from penstock.model.expr import Literal
from penstock.schema.types import (
    BOOLEAN,
    DATE,
    FLOAT64,
    INT32,
    INT64,
    STRING,
    TIME,
    TIMESTAMP,
    array_of,
    decimal_of,
    map_of,
    struct_of,
)
from tests.front.sql.functions.evaluated import evaluate, resolve, shown

COLUMNS = {
    "I": INT32,
    "L": INT64,
    "D": FLOAT64,
    "S": STRING,
    "B": BOOLEAN,
    "DAY": DATE,
    "MOMENT": TIMESTAMP,
    "CLOCK": TIME,
    "A": array_of(INT32),
    "M": map_of(INT32),
    "R": struct_of(X=INT32),
}
ROW = (
    7,
    2**40,
    1.5,
    "text",
    True,
    date(2020, 1, 2),
    datetime(2020, 1, 2, 3, 4, 5, 6000, UTC),
    time(10, 15),
    [1, 2, 3],
    {"a": 1},
    {"X": 9},
)
NULLS = (None,) * len(COLUMNS)


@pytest.mark.parametrize(
    ("text", "expected", "of_nulls"),
    [
        ("I + 1", 8, None),
        ("I / 2", 3, None),
        ("-I / 2", -3, None),
        ("I / 0", None, None),
        ("-I % 4", -3, None),
        ("I % 0", None, None),
        ("I + L", 2**40 + 7, None),
        ("D / 0.0E0", float("inf"), None),
        ("I * D", 10.5, None),
        ("I + 0.5", Decimal("7.5"), None),
        ("S + '!'", "text!", None),
        ("S || '!'", "text!", None),
        ("I > 5", True, False),
        ("I <> 5", True, False),
        ("NOT I = 7", False, True),
        ("I BETWEEN 1 AND 7", True, False),
        ("I IN (1, 7)", True, False),
        ("I IN (1, '7')", True, False),
        ("S IN ('text', 10)", True, False),
        ("I NOT IN (1, 2)", True, True),
        ("S LIKE 't%'", True, None),
        ("S LIKE 't_xt'", True, None),
        ("S LIKE '!%t%' ESCAPE '!'", False, None),
        ("I IS NULL", False, True),
        ("I IS NOT NULL", True, False),
        ("I IS DISTINCT FROM 8", True, True),
        ("I IS NOT DISTINCT FROM NULL", False, True),
        ("DAY > '2020-01-01'", True, False),
        ("MOMENT < '2020-01-03T00:00:00'", True, False),
        ("MOMENT >= DAY", True, False),
        ("CLOCK = '10:15'", True, False),
        ("A = ARRAY[1, 2, 3]", True, False),
        ("B AND I > 0", True, False),
        ("B OR I > 0", True, None),
        ("CASE WHEN I > 5 THEN 'big' ELSE 'small' END", "big", "small"),
        ("CASE WHEN I > 9 THEN 1 END", None, None),
        ("CASE I WHEN 7 THEN 'seven' END", "seven", None),
        ("A[1]", 1, None),
        ("A[-1]", 3, None),
        ("A[9]", None, None),
        ("A[0]", None, None),
        ("M['a']", 1, None),
        ("M['b']", None, None),
        ("R->X", 9, None),
        ("ARRAY[I, 2, NULL]", [7, 2, None], [None, 2, None]),
        ("ARRAY[A, ARRAY[4]]", [[1, 2, 3], [4]], [None, [4]]),
        ("MAP('k' := I, 'j' := 2)", {"k": 7, "j": 2}, {"k": None, "j": 2}),
        ("STRUCT(A := I, B := S)->B", "text", None),
        ("MOMENT AT TIME ZONE '+0100'", datetime(2020, 1, 2, 4, 4, 5, 6000, UTC), None),
    ],
)
def test_operators_compute_as_ksqldb_does(text: str, expected: Any, of_nulls: Any) -> None:  # noqa: ANN401
    assert evaluate(text, COLUMNS, [ROW, NULLS]) == [expected, of_nulls]


@pytest.mark.parametrize(
    ("text", "type_", "value"),
    [
        ("1.5 + 2.25", decimal_of(4, 2), "3.75"),
        ("1.5 * 2.25", decimal_of(6, 3), "3.375"),
        ("1.0 / 3.0", decimal_of(8, 6), "0.333333"),
        ("2.0 / 3.0", decimal_of(8, 6), "0.666667"),
        ("5.5 % 2.0", decimal_of(2, 1), "1.5"),
        ("1.5 - 1", decimal_of(12, 1), "0.5"),
        ("-(1.5)", decimal_of(2, 1), "-1.5"),
        ("1.0 / 0.0", decimal_of(8, 6), "null"),
    ],
)
def test_decimals_have_the_digits_that_ksqldb_gives_them(
    text: str, type_: object, value: str
) -> None:
    assert resolve(text).type == type_
    assert shown(text) == value


def test_constants_are_compared_once() -> None:
    assert evaluate("'50%' LIKE '50!%' ESCAPE '!'") == [True]


def test_products_of_many_digits_are_exact() -> None:
    wide = {"X": decimal_of(20, 10), "Y": decimal_of(20, 2)}
    row = (Decimal("1234567890.0123456789"), Decimal("3.25"))
    assert evaluate("X * Y", wide, [row]) == [Decimal("4012345642.540123456425")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("CAST('12' AS INT)", "12"),
        ("CAST('x' AS INT)", "null"),
        ("CAST(1.7E0 AS INT)", "1"),
        ("CAST('1.50' AS DECIMAL(4, 1))", "1.5"),
        ("CAST('1.25' AS DECIMAL(4, 1))", "1.3"),
        ("CAST('yes' AS BOOLEAN)", "true"),
        ("CAST('nein' AS BOOLEAN)", "false"),
        ("CAST(1.0E7 AS STRING)", "1.0E7"),
        ("CAST(100 AS STRING)", "100"),
        ("CAST(1.50 AS STRING)", "1.50"),
        ("CAST(TRUE AS STRING)", "true"),
        ("CAST('2020-06' AS DATE)", "2020-06-01"),
        ("CAST('2020-06-01T10' AS STRING)", "2020-06-01T10"),
        ("CAST(CAST('2020-06-01' AS DATE) AS TIMESTAMP)", "2020-06-01T00:00:00.000"),
        ("CAST(FROM_UNIXTIME(1500) AS STRING)", "1970-01-01T00:00:01.500"),
        ("CAST(FROM_UNIXTIME(1500) AS TIME)", "00:00:01.500"),
        ("CAST(FROM_UNIXTIME(1500) AS DATE)", "1970-01-01"),
        ("CAST(CAST('10:15:30.250' AS TIME) AS STRING)", "10:15:30.250"),
        ("CAST(CAST('10:15' AS TIME) AS STRING)", "10:15"),
        ("CAST(ARRAY[1, 2] AS ARRAY<STRING>)", "[1, 2]"),
        ("CAST(ARRAY[1, NULL] AS STRING)", "[1, null]"),
        ("CAST(MAP('a' := 1) AS MAP<STRING, DOUBLE>)", "{a=1.0}"),
        ("CAST(MAP('a' := 1) AS STRING)", "{a=1}"),
        ("CAST(STRUCT(A := 1) AS STRUCT<A BIGINT, B STRING>)", "Struct{A=1}"),
        ("CAST(STRUCT(A := 1, B := 'x') AS STRING)", "Struct{A=1,B=x}"),
        ("CAST(NULL AS INT)", "null"),
    ],
)
def test_a_cast_gives_what_the_value_is_in_the_other_type(text: str, expected: str) -> None:
    assert shown(text) == expected


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("1 + NULL", "SQL_OPERATOR"),
        ("1 + 'a'", "SQL_OPERATOR"),
        ("ARRAY[1] * 2", "SQL_OPERATOR"),
        ("-'a'", "SQL_OPERATOR"),
        ("1 LIKE 'a'", "SQL_OPERATOR"),
        ("'a' AT TIME ZONE 'UTC'", "SQL_OPERATOR"),
        ("I = NULL", "SQL_COMPARE"),
        ("I > 'seven'", "SQL_COMPARE"),
        ("A < A", "SQL_COMPARE"),
        ("B > TRUE", "SQL_COMPARE"),
        ("NULL IN (1)", "SQL_COMPARE"),
        ("I AND TRUE", "SQL_CONDITION"),
        ("CAST(S AS ARRAY<INT>)", "SQL_CAST"),
        ("CAST(I AS DATE)", "SQL_CAST"),
        ("CASE WHEN B THEN 1 ELSE 'a' END", "SQL_TYPES_MIXED"),
        ("CASE WHEN B THEN NULL ELSE NULL END", "SQL_TYPES_MIXED"),
        ("ARRAY[1, TRUE]", "SQL_TYPES_MIXED"),
        ("I IN (1, S)", "SQL_TYPES_MIXED"),
        ("I IN (1, 'seven')", "SQL_TEXT_VALUE"),
        ("A IN (ARRAY['x'])", "SQL_TEXT_VALUE"),
        ("ARRAY[NULL]", "SQL_EMPTY"),
        ("MAP('a' := NULL)", "SQL_EMPTY"),
        ("R->Y", "SQL_FIELD"),
        ("I->Y", "SQL_FIELD"),
        ("I[1]", "SQL_SUBSCRIPT"),
        ("A['a']", "SQL_SUBSCRIPT"),
        ("M[1]", "SQL_SUBSCRIPT"),
    ],
)
def test_what_has_no_meaning_is_refused(text: str, code: str) -> None:
    with pytest.raises(SqlError) as caught:
        resolve(text, COLUMNS)
    assert caught.value.code == code


def test_structs_of_an_array_share_their_fields() -> None:
    found = evaluate("ARRAY[STRUCT(X := 1, Y := 2), STRUCT(Y := 3, Z := 4)]")
    assert found == [[{"X": 1, "Y": 2, "Z": None}, {"X": None, "Y": 3, "Z": 4}]]


@pytest.mark.parametrize(
    ("text", "millis"),
    [
        ("1971", 365 * 86_400_000),
        ("1970-01-02", 86_400_000),
        ("1970-01-01T00:01", 60_000),
        ("1970-01-01T00:00:01.5", 1500),
        ("1970-01-01T01:00:00.000+0100", 0),
    ],
)
def test_a_text_beside_rowtime_is_a_moment(text: str, millis: int) -> None:
    assert text_as_millis(Typed(Literal(text), STRING)) == Typed(Literal(millis), INT64)


def test_a_text_beside_rowtime_that_is_no_moment_is_refused() -> None:
    for text in ("soon", "1970-13-01"):
        with pytest.raises(SqlError) as caught:
            text_as_millis(Typed(Literal(text), STRING))
        assert caught.value.code == "SQL_TEXT_VALUE"
