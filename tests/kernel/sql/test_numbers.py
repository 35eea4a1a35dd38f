from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pytest

from penstock.schema.types import FLOAT64, INT32, INT64, decimal_of
from tests.front.sql.functions.evaluated import evaluate, shown

COLUMNS = {"I": INT32, "L": INT64, "D": FLOAT64, "P": decimal_of(4, 2)}
NULLS = (None,) * len(COLUMNS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ABS(I)", 3),
        ("ABS(P)", Decimal("1.25")),
        ("CEIL(D)", -1.0),
        ("FLOOR(D)", -2.0),
        ("FLOOR(P)", Decimal("-2.00")),
        ("ROUND(D)", -1),
        ("ROUND(D, 0)", -1.0),
        ("ROUND(P)", Decimal(-1)),
        ("ROUND(P, 1)", Decimal("-1.20")),
        ("TRUNC(D)", -1),
        ("TRUNC(P, 1)", Decimal("-1.20")),
        ("TRUNC(P)", Decimal(-1)),
        ("ROUND(I)", -3),
        ("SIGN(D)", -1),
        ("SQRT(L)", 3.0),
        ("POWER(I, 2)", 9.0),
        ("LOG(2, L)", math.log2(9)),
        ("CBRT(L)", 9 ** (1 / 3)),
        ("LN(L)", math.log(9)),
        ("EXP(I)", math.exp(-3)),
        ("SIN(I)", math.sin(-3)),
        ("COS(I)", math.cos(-3)),
        ("TAN(I)", math.tan(-3)),
        ("ATAN2(I, L)", math.atan2(-3, 9)),
        ("DEGREES(D)", math.degrees(-1.5)),
        ("RADIANS(L)", math.radians(9)),
    ],
)
def test_functions_of_numbers(text: str, expected: Any) -> None:  # noqa: ANN401
    row = (-3, 9, -1.5, Decimal("-1.25"))
    found, of_nulls = evaluate(text, COLUMNS, [row, NULLS])
    assert found == pytest.approx(expected) if isinstance(expected, float) else found == expected
    assert of_nulls is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SQRT(-1)", "NaN"),
        ("LN(0)", "-Infinity"),
        ("LOG(-1, 8)", "NaN"),
        ("COT(0)", "Infinity"),
        ("ROUND(12345.678E0, -2)", "12300.0"),
        ("ROUND(2.5E0)", "3"),
        ("GREATEST('a', NULL, 'c', 'b')", "c"),
        ("GREATEST(FROM_DAYS(1), '1970-01-03')", "1970-01-03"),
        ("LEAST(1.5, 2.25)", "1.50"),
        ("LEAST(1, 2.5E0)", "1.0"),
        ("ROUND(GEO_DISTANCE(41.9, 12.5, 59.3, 18.1), 6)", "1973.063547"),
        ("ROUND(GEO_DISTANCE(37.0, -122.0, 37.0, -122.0, 'MI'), 6)", "0.0"),
        ("GEO_DISTANCE(137.4, 0.0, 0.0, 0.0)", "null"),
    ],
)
def test_numbers_at_their_limits(text: str, expected: str) -> None:
    assert shown(text) == expected


def test_constant_places_round_as_others_do() -> None:
    values = [2.675, -2.675, 1.5, -1.5, 0.5, -0.5, 1.005, -1.005, 12345.678, 0.0, -0.04, 1e20, 25.0]
    values += [-25.0, -15.0, -0.125, 0.125, -99.995, 1e-9, -2.5e-8, math.inf, math.nan, -1e300]
    columns = {"D": FLOAT64, "N": INT32}
    for places in (-2, -1, 0, 1, 2, 5):
        rows = [(value, places) for value in values]
        found = evaluate(f"ROUND(D, {places})", columns, rows)
        slow = evaluate("ROUND(D, N)", columns, rows)
        assert [repr(one) for one in found] == [repr(other) for other in slow]


def test_a_random_number_is_another_in_every_row() -> None:
    found = evaluate("RANDOM()", {"I": INT32}, [(1,), (2,)])
    assert found[0] != found[1]
    assert all(0 <= number < 1 for number in found)
