"""Many texts read and written at once give what each gives by itself."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from penstock.schema.arrow import to_arrow
from penstock.schema.codec.port import Codec
from penstock.schema.ksql.delimited_codec import KsqlDelimited
from penstock.schema.ksql.delimited_line import read_line, write_line
from penstock.schema.ksql.json_codec import KsqlJson
from penstock.schema.ksql.json_value import Named, read_json, write_json
from penstock.schema.schema import Field, Schema
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

TYPES: dict[str, Type] = {
    "B": BOOLEAN,
    "I": INT32,
    "L": INT64,
    "D": FLOAT64,
    "M": decimal_of(5, 2),
    "S": STRING,
    "Y": BYTES,
    "DAY": DATE,
    "T": TIME,
    "AT": TIMESTAMP,
    "A": array_of(INT32),
    "P": map_of(FLOAT64),
    "Q": struct_of(F=STRING, G=INT64),
    "R": array_of(struct_of(X=TIMESTAMP)),
}
NESTED = ("A", "P", "Q", "R")
USUAL: dict[str, list[Any]] = {
    "B": [True, False, None],
    "I": [1, -2, None],
    "L": [2**40],
    "D": [1.5, 2, 1e10],
    "M": [1, Decimal("1.5"), Decimal("12.25")],
    "S": ["a", "b\u00e9"],
    "Y": ["AQI="],
    "DAY": [1, 18_000],
    "T": [0, 5_000],
    "AT": [0, 10**12],
    "A": [[1], [], None],
    "P": [{"a": 1.5}, {}],
    "Q": [{"F": "x", "G": 1}, None],
    "R": [[{"X": 1}], []],
}
UNUSUAL: list[Any] = [
    None, True, 0, -5, 2**31, 2**63, 1.5, Decimal("1.50"), "7", "x", " 1 ", "true", "", 'a"b,c',
    "AQI=", "2020-01-01", 86_400_000, -1, [1, "2", None], {"a": 1}, {"f": "z", "G": 2},
    [{"x": 5}, {"X": 10**15}], 1e300, 253_402_300_800_000, "\ud800",
]  # fmt: skip
DOUBLES = [float("nan"), float("inf"), 1e-5, 1e7, 123.456, 0.001, -0.0, 1.25e20, 9_999_999.5, None]
TEXTS = ["", "-a", "a,b", 'q"', "x ", "#a", "$a", "\u00e9x", "line\nx", None, "ok"]
BROKEN = [b"", b"null", b"[1]", b"{", b"{}", b"\xff", b" {} ", b"{}{}", b'1,"b":2', b'"a', b"01"]


def _named(names: list[str]) -> Named:
    return tuple((name, TYPES[name]) for name in names)


def _schema(named: Named) -> Schema:
    return Schema(tuple(Field(*pair) for pair in named))


def _json(tree: Any) -> str:  # noqa: ANN401
    if isinstance(tree, dict):
        return (
            "{" + ",".join(f"{json.dumps(name)}:{_json(part)}" for name, part in tree.items()) + "}"
        )
    if isinstance(tree, list):
        return f"[{','.join(map(_json, tree))}]"
    return str(tree) if isinstance(tree, Decimal) else json.dumps(tree)


def _alike(codec: Codec, single: Callable[[str], dict[str, Any]], texts: list[bytes]) -> None:
    found = codec.decode(pa.array(texts, pa.binary()))
    rows = found.rows.to_pylist(maps_as_pydicts="strict")
    for at, text in enumerate(texts):
        try:
            wanted = single(text.decode())
        except (ValueError, ArithmeticError):
            assert at in found.failures, (text, rows[at])
        else:
            assert at not in found.failures, (text, wanted, found.failures[at])
            assert str(rows[at]) == str(wanted) or rows[at] == wanted, text


def _objects(dice: random.Random, names: list[str], strange: float) -> list[bytes]:
    texts = []
    for _ in range(dice.choice([1, 40])):
        tree: dict[str, Any] = {}
        for name in names:
            spelt = name.lower() if dice.random() < strange / 3 else name
            odd = dice.random() < strange
            tree[spelt] = dice.choice(UNUSUAL if odd else USUAL[name])
        broken = dice.random() < strange / 10
        texts.append(dice.choice(BROKEN) if broken else _json(tree).encode())
    return texts


@pytest.mark.parametrize("strange", [0, 0.03, 0.3])
def test_json_texts_are_read_alike(strange: float) -> None:
    dice = random.Random(strange)
    for _ in range(20):
        names = dice.sample(list(TYPES), dice.randint(1, 5))
        named = _named(names)
        texts = _objects(dice, names, strange)
        _alike(KsqlJson(_schema(named)), lambda t: read_json(t, named, wrapped=True), texts)  # noqa: B023


@pytest.mark.parametrize("name", TYPES)
def test_json_values_alone_are_read_alike(name: str) -> None:
    named = _named([name])
    texts = [_json(value).encode() for value in [*USUAL[name] * 8, *UNUSUAL]]
    texts += [*BROKEN, b" 1 ", b"1.0", b"1e2", b"-0"]
    codec = KsqlJson(_schema(named), wrapped=False)
    _alike(codec, lambda text: read_json(text, named, wrapped=False), texts)


@pytest.mark.parametrize("delimiter", [",", "\t", "\u00a7"])
def test_lines_are_read_alike(delimiter: str) -> None:
    dice = random.Random(delimiter)
    for strange in [0, 0.05, 0.3] * 5:
        plain = [name for name in TYPES if name not in NESTED]
        named = _named(dice.sample(plain, dice.randint(1, 4)))
        texts = []
        for _ in range(40):
            odd = dice.random() < strange
            values = [dice.choice(UNUSUAL if odd else USUAL[name]) for name, _ in named]
            cells = ["" if value is None else str(value) for value in values]
            texts.append(delimiter.join(cells).encode(errors="replace"))
        codec = KsqlDelimited(_schema(named), delimiter)
        _alike(codec, lambda text: read_line(text, named, delimiter), texts)  # noqa: B023


def test_rows_are_written_alike() -> None:
    dice = random.Random(1)
    for _ in range(10):
        names = dice.sample(list(TYPES), 5)
        named = _named(names)
        rows = [
            {
                **read_json(_json({n: dice.choice(USUAL[n]) for n in names}), named, wrapped=True),
                **({"D": dice.choice(DOUBLES)} if "D" in names else {}),
                **({"S": dice.choice(TEXTS)} if "S" in names else {}),
            }
            for _ in range(40)
        ]
        table = pa.Table.from_pylist(rows, to_arrow(_schema(named)))
        texts = KsqlJson(_schema(named)).encode(table).to_pylist()
        for found, row in zip(texts, rows, strict=True):
            assert json.loads(found) == json.loads(write_json(row, named, wrapped=True))
        flat = tuple(pair for pair in named if pair[0] not in NESTED)
        if flat:
            lines = KsqlDelimited(_schema(flat)).encode(table.select([n for n, _ in flat]))
            assert lines.to_pylist() == [write_line(row, flat, ",") for row in rows]


def test_a_null_alone_has_no_text() -> None:
    rows = pa.table({"I": pa.array([1, None], pa.int32())})
    assert KsqlJson(_schema(_named(["I"])), wrapped=False).encode(rows).to_pylist() == [b"1", None]
