"""Types of parameters as they are declared: INT, ARRAY<T>, LAMBDA<T, U>, with T for any type."""

from __future__ import annotations

import re
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from typing_extensions import override

from penstock.errors import SqlError
from penstock.front.sql.functions.joint_type import shared_type
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
    Kind,
    Type,
    array_of,
    decimal_of,
    map_of,
)

Bound: TypeAlias = MutableMapping[str, Type]

_PLAIN: Mapping[str, Type] = {
    "BOOLEAN": BOOLEAN,
    "INT": INT32,
    "BIGINT": INT64,
    "DOUBLE": FLOAT64,
    "STRING": STRING,
    "BYTES": BYTES,
    "DATE": DATE,
    "TIME": TIME,
    "TIMESTAMP": TIMESTAMP,
}
_WIDENS: Mapping[Kind, tuple[Kind, ...]] = {
    Kind.INT32: (Kind.INT64, Kind.DECIMAL, Kind.FLOAT64),
    Kind.INT64: (Kind.DECIMAL, Kind.FLOAT64),
    Kind.DECIMAL: (Kind.FLOAT64,),
}
_TIMES = (Kind.DATE, Kind.TIME, Kind.TIMESTAMP)
_DIGITS = {Kind.INT32: 10, Kind.INT64: 19}
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Shape:
    """A declared type: a word and its parts; a single letter stands for any type."""

    word: str
    parts: tuple[Shape, ...] = ()

    @property
    def generic(self) -> bool:
        """Whether it, or a part of it, stands for any type."""
        return len(self.word) == 1 or any(part.generic for part in self.parts)

    @override
    def __str__(self) -> str:
        word = "INTEGER" if self.word == "INT" else self.word
        return f"{word}<{', '.join(map(str, self.parts))}>" if self.parts else word


@lru_cache(maxsize=1024)
def shape_of(text: str) -> Shape:
    """Read the text of a declared type."""
    shape, rest = _read(text.strip())
    assert not rest, text
    return shape


def _read(text: str) -> tuple[Shape, str]:
    found = _WORD.match(text)
    assert found is not None, text
    word, rest = found[0], text[found.end() :].lstrip()
    parts = []
    if rest.startswith("<"):
        while not rest.startswith(">"):
            part, rest = _read(rest[1:].lstrip())
            parts.append(part)
        rest = rest[1:].lstrip()
    return Shape(word, tuple(parts)), rest


def fits(shape: Shape, type_: Type, bound: Bound, *, casts: bool) -> bool:
    """Whether a value of a type can be given; what letters stand for is noted."""
    if len(shape.word) == 1:
        return _binds(shape.word, type_, bound, casts=casts)
    if shape.word in ("ARRAY", "MAP"):
        return _nested(shape, type_, bound, casts=casts)
    if shape.word == "DECIMAL":
        wanted = Kind.DECIMAL
    elif shape.word in _PLAIN:
        wanted = _PLAIN[shape.word].kind
    else:
        return False
    if type_.kind is wanted:
        return True
    return casts and (
        wanted in _WIDENS.get(type_.kind, ()) or (type_.kind is Kind.STRING and wanted in _TIMES)
    )


def _binds(letter: str, type_: Type, bound: Bound, *, casts: bool) -> bool:
    known = bound.get(letter)
    if known is None or known == type_:
        bound[letter] = type_
        return True
    if not casts:
        return False
    try:
        bound[letter] = shared_type(known, type_)
    except SqlError:
        return False
    return True


def _nested(shape: Shape, type_: Type, bound: Bound, *, casts: bool) -> bool:
    if type_.kind.name != shape.word or type_.item is None:
        return False
    if shape.word == "ARRAY":
        return fits(shape.parts[0], type_.item, bound, casts=casts)
    return fits(shape.parts[0], type_.key or STRING, bound, casts=casts) and fits(
        shape.parts[1], type_.item, bound, casts=casts
    )


def made(shape: Shape, bound: Mapping[str, Type], given: Type | None = None) -> Type:
    """Give the type that a shape comes to; a decimal is as wide as what is given for it."""
    if len(shape.word) == 1:
        return bound.get(shape.word, STRING)
    if shape.word == "ARRAY":
        return array_of(made(shape.parts[0], bound, given.item if given else None))
    if shape.word == "MAP":
        key = made(shape.parts[0], bound, (given.key or STRING) if given else None)
        item = made(shape.parts[1], bound, given.item if given else None)
        return map_of(item, None if key == STRING else key)
    if shape.word == "DECIMAL":
        if given is not None and given.kind is Kind.DECIMAL:
            return given
        return decimal_of(_DIGITS.get(given.kind, 38) if given is not None else 38, 0)
    return _PLAIN[shape.word]
