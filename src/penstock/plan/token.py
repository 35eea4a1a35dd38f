"""Values as nested tuples of text: equal if and only if the values mean the same.

`==` will not do, since to Python 1, 1.0 and True are equal and to a program they are not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, TypeAlias

Token: TypeAlias = tuple[object, ...]
Foreign: TypeAlias = Callable[[object], Token]
"""Says what stands for a value that is not ours: a user's function or object."""

_PLAIN = (bool, int, float, str, bytes, datetime, date, time, timedelta, Decimal, type(None))
# Most values are one of these, and a look into a set is quicker than all of the questions below.
_EXACTLY = frozenset(_PLAIN)


def token(value: object, foreign: Foreign) -> Token:
    """Give the token of a value; fields that do not count for equality, as `site`, are left out."""
    if type(value) not in _EXACTLY and isinstance(value, Enum):
        return (type(value).__qualname__, str(value.value))
    if type(value) in _EXACTLY or isinstance(value, _PLAIN):
        return (type(value).__name__, repr(value))
    if isinstance(value, tuple | list):
        return ("sequence", *(token(item, foreign) for item in value))
    if isinstance(value, Mapping):
        items = sorted(value.items(), key=lambda item: str(item[0]))
        return ("mapping", *((str(name), token(item, foreign)) for name, item in items))
    if is_dataclass(value) and type(value).__module__.startswith("penstock."):
        return (type(value).__qualname__, *field_tokens(value, foreign))
    return foreign(value)


def field_tokens(value: Any, foreign: Foreign, without: tuple[str, ...] = ()) -> Iterator[Token]:  # noqa: ANN401  # any of our dataclasses
    """Give the fields that count and are not at their default.

    So a field that a later version adds leaves the tokens of older programs as they were.
    """
    for name, default in _counted(type(value)):
        held = getattr(value, name)
        if held is default or name in without:
            continue
        found = token(held, foreign)
        if default is MISSING or found != token(default, foreign):
            yield (name, found)


def _counted(kind: type) -> tuple[tuple[str, object], ...]:
    """Give the fields of a dataclass that count, with their defaults."""
    if kind not in _COUNTED:
        _COUNTED[kind] = tuple((item.name, item.default) for item in fields(kind) if item.compare)
    return _COUNTED[kind]


_COUNTED: dict[type, tuple[tuple[str, object], ...]] = {}
