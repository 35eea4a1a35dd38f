"""Random expressions and rows, for a comparison of polars with Spark."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from penstock.model.expr import Call, Cast, Column, Expr, Literal
from penstock.schema.schema import Field, Schema
from penstock.schema.types import (
    BOOLEAN,
    BYTES,
    DATE,
    FLOAT64,
    INT32,
    INT64,
    STRING,
    TIMESTAMP,
    Type,
    array_of,
    decimal_of,
    map_of,
)

MONEY = decimal_of(9, 2)
FINE = decimal_of(12, 4)
TEXTS = array_of(STRING)
NUMBERS = array_of(FLOAT64)

SCHEMA = Schema(
    (
        Field("b1", BOOLEAN),
        Field("b2", BOOLEAN),
        Field("i1", INT32),
        Field("i2", INT32),
        Field("l1", INT64),
        Field("l2", INT64),
        Field("f1", FLOAT64),
        Field("f2", FLOAT64),
        Field("s1", STRING),
        Field("s2", STRING),
        Field("y1", BYTES),
        Field("t1", TIMESTAMP),
        Field("t2", TIMESTAMP),
        Field("d1", DATE),
        Field("m1", MONEY),
        Field("n1", FINE),
        Field("a1", TEXTS),
        Field("a2", NUMBERS),
        Field("p1", map_of(INT64)),
    )
)

_INTS = [0, 1, -1, 2, 3, -3, 7, -7, 10, 100, 2**31 - 1, -(2**31)]
_LONGS = [*_INTS, 2**31, 10**12, -(10**12), 2**53 + 1, 2**63 - 1, -(2**63)]
_FLOATS = [
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 2.675, 1.005, 0.1, 1e-3, 9.999e-4, 1e7,
    1e15, 1e16, 1e22, -1e22, 1e300, 1e-300, 123456789.125, float("nan"), float("inf"),
    float("-inf"), 3e9, -3e9, 1e19, 0.045, 1234.5678, 12345678901234.565,
]  # fmt: skip
_TEXTS = [
    "", " ", "a", "A", "abc", "  padded  ", "Únicos 2 equipos", "ÄÖÜ straße", "ΣΑΣ", "İstanbul",
    "日本語 テキスト", "a,b;c  d", "e\u0301", "👩‍👧 x",
    "12", "-7", "+5", " 42 ", "5.7", ".5", "5.", ".",
    "1e3", "NaN", "inf", "-Infinity", "1.5d", "true", "FALSE", "t", "no", "1", "0", "2020-02-29",
    "2021-02-29", "2020-1-5", "2020", "2020-03", "2020-01-01T10:11:12.345Z",
    "2020-01-01 10:11:12.3+02:00", "2020-01-01 25:00:00", "99999999999", "1234.565", "-0.005",
    "a\nb", "line\n", "x_y%z", "ab12cd345", "--a--", "\ttab\t", "ﬁ", "ǅ", "K", "2020-01-01 1:2:3",
]  # fmt: skip
_DECIMALS = ["0.00", "1.25", "-1.25", "0.05", "9999999.99", "-9999999.99", "123.45", "2.50"]
_FINE = ["0.0000", "1.2345", "-1.2355", "0.0050", "99999999.9999", "12.5000", "-3.0000"]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def some_rows(seed: int, count: int) -> list[dict[str, Any]]:
    """Rows with the values that are hard, and nulls."""
    chance = random.Random(seed)
    return [
        {field.name: _value(field.type, chance) for field in SCHEMA.fields} for _ in range(count)
    ]


def _value(type_: Type, chance: random.Random) -> Any:  # noqa: ANN401
    if chance.random() < 0.12:
        return None
    return _VALUES[type_](chance)


def _moment(chance: random.Random) -> datetime:
    millis = chance.choice(
        [0, 1, -1, 951_782_400_000, -62_000_000_000, chance.randint(-(10**12), 2 * 10**12)]
    )
    return _EPOCH + timedelta(milliseconds=millis)


_VALUES: dict[Type, Callable[[random.Random], Any]] = {
    BOOLEAN: lambda chance: chance.random() < 0.5,
    INT32: lambda chance: chance.choice([*_INTS, chance.randint(-1000, 1000)]),
    INT64: lambda chance: chance.choice([*_LONGS, chance.randint(-(10**15), 10**15)]),
    FLOAT64: lambda chance: chance.choice(
        [*_FLOATS, chance.uniform(-1000, 1000), round(chance.uniform(-50, 50), 3)]
    ),
    STRING: lambda chance: chance.choice(_TEXTS),
    BYTES: lambda chance: chance.choice([b"", b"a", b"\x00\xff", "é".encode()]),
    TIMESTAMP: _moment,
    DATE: lambda chance: date(1969, 12, 25) + timedelta(days=chance.randint(-40000, 40000)),
    MONEY: lambda chance: Decimal(chance.choice(_DECIMALS)),
    FINE: lambda chance: Decimal(chance.choice(_FINE)),
    TEXTS: lambda chance: [_value(STRING, chance) for _ in range(chance.randint(0, 4))],
    NUMBERS: lambda chance: [_value(FLOAT64, chance) for _ in range(chance.randint(0, 4))],
    map_of(INT64): lambda chance: {
        key: _value(INT64, chance) for key in chance.sample(["a", "b", "abc"], chance.randint(0, 3))
    },
}


class Writer:
    """Writes random expressions of a wanted type."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)

    def expression(self, type_: Type, depth: int) -> Expr:
        """Give an expression of a type, nested at most so deep."""
        ways = _WAYS.get(type_, [])
        if depth <= 0 or not ways or self._chance.random() < 0.15:
            return self._leaf(type_)
        name, kinds = self._chance.choice(ways)
        return self.call(name, kinds, depth)

    def call(self, name: str, kinds: Sequence[Any], depth: int) -> Expr:
        """Give a call of a function with random arguments of these types or choices."""
        shallow = isinstance(kinds[0], Type) and (name, kinds[0]) in _SHALLOW
        deep = 0 if shallow else depth - 1
        arguments = tuple(self._argument(kind, deep) for kind in kinds)
        if name.startswith("cast:"):
            return Cast(arguments[0], _BY_NAME[name.removeprefix("cast:")])
        return Call(name, arguments)

    def _argument(self, kind: Any, depth: int) -> Expr:  # noqa: ANN401
        if isinstance(kind, Type):
            return self.expression(kind, depth)
        return Literal(self._chance.choice(kind))

    def _leaf(self, type_: Type) -> Expr:
        names = [field.name for field in SCHEMA.fields if field.type == type_]
        literal = type_ in (BOOLEAN, INT32, INT64, FLOAT64, STRING, TIMESTAMP, DATE)
        if names and (not literal or self._chance.random() < 0.75):
            return Column(self._chance.choice(names))
        value = _VALUES[type_](self._chance)
        # A small number is an int32 to the signature, whatever it was meant to be.
        return Cast(Literal(value), INT64) if type_ == INT64 else Literal(value)


_PATTERNS = [
    r"\W+", r"[a-z]+", r"\d", r"(\w)(\w)?", r"^a", r"b$", "a|b", r"\s+", "é", r"[^,;]+", ".c",
    r"\bx", r"(?i)A", r"\d+$", ",",
]  # fmt: skip
_GROUPS = [r"(\w)(\w)?", r"([a-z]+)(\d+)?", r"(\d)", r"(.)b"]
_REPLACEMENTS = ["", "-", "$0$0", r"\$", "x"]
_LIKES = ["%", "a%", "%b%", "_", "x\\_%", "%\n%", "", "%.%", "__c"]
_NUMERIC = [INT32, INT64, FLOAT64]
_SHALLOW: set[tuple[str, Any]] = {
    # Java before 19 writes some floating-point numbers with more digits than they need.
    ("cast:string", FLOAT64),
    ("cast:decimal(20, 3)", FLOAT64),
    ("cast:decimal(5, 1)", FLOAT64),
    # Spark reads years beyond 9999, which Python does not have.
    ("cast:date", STRING),
    ("cast:timestamp", STRING),
    ("to_date", STRING),
    # Spark takes lower(upper(x)) for lower(x), which it is not for a ligature.
    ("lower", STRING),
    ("upper", STRING),
}
INEXACT = ("exp", "ln", "power")
_BY_NAME = {str(type_): type_ for type_ in (*_VALUES, decimal_of(5, 1), decimal_of(20, 3))}

_TABLE: list[tuple[Type, str, list[Any]]] = [
    *[
        (gives, name, [gives, gives])
        for gives in _NUMERIC
        for name in (
            "add",
            "subtract",
            "multiply",
            "mod",
            "greatest",
            "least",
            "coalesce",
            "nullif",
        )
    ],
    *[(MONEY, name, [MONEY, MONEY]) for name in ("add", "subtract", "multiply", "mod")],
    *[(FINE, name, [FINE, MONEY]) for name in ("add", "subtract", "multiply")],
    *[(FLOAT64, name, [INT32, FLOAT64]) for name in ("add", "multiply", "mod", "coalesce")],
    *[(INT64, name, [INT32, INT64]) for name in ("add", "multiply", "greatest")],
    *[(FLOAT64, "divide", [one, other]) for one in _NUMERIC for other in (INT32, FLOAT64)],
    (FLOAT64, "divide", [MONEY, FINE]),
    *[(kind, name, [kind]) for kind in (*_NUMERIC, MONEY) for name in ("abs", "negate")],
    *[(kind, "round", [kind, [-2, -1, 0, 1, 2, 5]]) for kind in (*_NUMERIC, MONEY, FINE)],
    *[(kind, "round", [kind]) for kind in (FLOAT64, MONEY)],
    *[(FLOAT64, name, [FLOAT64]) for name in ("sqrt", "exp", "ln")],
    (FLOAT64, "power", [FLOAT64, FLOAT64]),
    *[(INT64, name, [kind]) for name in ("floor", "ceil") for kind in (*_NUMERIC, MONEY)],
    *[
        (BOOLEAN, name, [kind, kind])
        for name in ("eq", "ne", "lt", "le", "gt", "ge")
        for kind in (*_NUMERIC, STRING, TIMESTAMP, DATE, BOOLEAN, BYTES, MONEY)
    ],
    (BOOLEAN, "eq", [INT64, FLOAT64]),
    (BOOLEAN, "lt", [MONEY, INT32]),
    (BOOLEAN, "lt", [MONEY, FLOAT64]),
    (BOOLEAN, "ge", [FINE, MONEY]),
    (BOOLEAN, "and", [BOOLEAN, BOOLEAN]),
    (BOOLEAN, "or", [BOOLEAN, BOOLEAN]),
    (BOOLEAN, "not", [BOOLEAN]),
    *[
        (BOOLEAN, name, [kind])
        for name in ("is_null", "is_not_null")
        for kind in (FLOAT64, STRING, TEXTS)
    ],
    (BOOLEAN, "is_nan", [FLOAT64]),
    (BOOLEAN, "is_nan", [INT32]),
    *[(BOOLEAN, name, [STRING, STRING]) for name in ("contains", "starts_with", "ends_with")],
    (BOOLEAN, "like", [STRING, _LIKES]),
    (BOOLEAN, "regexp_like", [STRING, _PATTERNS]),
    (BOOLEAN, "array_contains", [TEXTS, STRING]),
    (BOOLEAN, "array_contains", [NUMBERS, FLOAT64]),
    *[
        (kind, "if", [BOOLEAN, kind, kind])
        for kind in (*_NUMERIC, STRING, TIMESTAMP, DATE, BOOLEAN, MONEY, TEXTS)
    ],
    (FLOAT64, "if", [BOOLEAN, INT32, FLOAT64]),
    (STRING, "if", [BOOLEAN, STRING, [None]]),
    *[(kind, "coalesce", [kind, kind]) for kind in (STRING, TIMESTAMP, BOOLEAN)],
    *[(kind, "greatest", [kind, kind, kind]) for kind in (STRING, TIMESTAMP, FLOAT64)],
    (STRING, "nullif", [STRING, STRING]),
    *[(STRING, name, [STRING]) for name in ("lower", "upper", "trim", "reverse")],
    (STRING, "concat", [STRING, STRING, STRING]),
    (STRING, "substring", [STRING, INT32, INT32]),
    (STRING, "substring", [STRING, [-5, -2, -1, 0, 1, 2, 4], [-1, 0, 1, 2, 9]]),
    (STRING, "substring", [STRING, [-2, 0, 2]]),
    (STRING, "replace", [STRING, ["", "a", "b ", "ß", "."], ["", "x", "$1"]]),
    (STRING, "regexp_replace", [STRING, [r"\W+", r"(\w)", r"[a-z]", r"\d+$"], _REPLACEMENTS]),
    (STRING, "regexp_extract", [STRING, _GROUPS, [0, 1]]),
    (STRING, "regexp_extract", [STRING, _GROUPS]),
    (TEXTS, "regexp_extract_all", [STRING, _GROUPS, [0, 1]]),
    (TEXTS, "split", [STRING, [r"\W+", ",", r"\s", r"[a-z]", ""]]),
    (TEXTS, "reverse", [TEXTS]),
    *[(STRING, name, [STRING, [-1, 0, 3, 8], ["-", "ab", "é", ""]]) for name in ("lpad", "rpad")],
    (STRING, "lpad", [STRING, [6]]),
    (INT32, "length", [STRING]),
    (INT32, "length", [BYTES]),
    (INT32, "array_size", [TEXTS]),
    (STRING, "element_at", [TEXTS, INT32]),
    (STRING, "element_at", [TEXTS, [1, 2, -1, 3]]),
    (FLOAT64, "element_at", [NUMBERS, [1, -1, 2]]),
    (INT64, "element_at", [map_of(INT64), STRING]),
    (INT64, "element_at", [map_of(INT64), ["a", "b", "zz"]]),
    *[(INT32, name, [TIMESTAMP]) for name in ("year", "month", "day", "hour", "minute", "second")],
    *[(INT32, name, [DATE]) for name in ("year", "month", "day")],
    (
        TIMESTAMP,
        "date_trunc",
        [["year", "quarter", "month", "week", "day", "hour", "minute", "second"], TIMESTAMP],
    ),
    (TIMESTAMP, "date_trunc", [["week", "month"], DATE]),
    (INT64, "millis", [TIMESTAMP]),
    (TIMESTAMP, "from_millis", [[0, 1, -1, 1_600_000_000_123]]),
    (TIMESTAMP, "from_millis", [INT32]),
    *[(DATE, "to_date", [kind]) for kind in (TIMESTAMP, STRING, DATE)],
]

CASTS: list[tuple[Type, Type]] = [
    *[
        (one, other)
        for one in (BOOLEAN, *_NUMERIC, MONEY)
        for other in (BOOLEAN, *_NUMERIC, STRING)
    ],
    *[(one, decimal_of(20, 3)) for one in (BOOLEAN, *_NUMERIC, MONEY, FINE, STRING)],
    *[(one, decimal_of(5, 1)) for one in (INT32, INT64, FLOAT64, MONEY, FINE, STRING)],
    *[(STRING, other) for other in (BOOLEAN, *_NUMERIC, DATE, TIMESTAMP, BYTES)],
    *[(TIMESTAMP, other) for other in (INT64, FLOAT64, STRING, DATE)],
    (INT32, TIMESTAMP),
    *[(DATE, other) for other in (STRING, TIMESTAMP)],
    (TEXTS, array_of(INT32)),
    (NUMBERS, array_of(INT64)),
]

CALLS: list[tuple[Type, str, list[Any]]] = [
    *_TABLE,
    *[(other, f"cast:{other}", [one]) for one, other in CASTS if one != other],
]
_BY_NAME.update({str(other): other for _, other in CASTS})
_WAYS: dict[Type, list[tuple[str, list[Any]]]] = {}
for _gives, _name, _kinds in CALLS:
    # What may differ in its last digit is compared itself, and not what is made of it.
    if _name not in INEXACT:
        _WAYS.setdefault(_gives, []).append((_name, _kinds))
