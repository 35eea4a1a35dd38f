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


def token(value: object, foreign: Foreign) -> Token:
    """Give the token of a value; fields that do not count for equality, as `site`, are left out."""
    if isinstance(value, Enum):
        return (type(value).__qualname__, str(value.value))
    if isinstance(value, _PLAIN):
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
    for item in fields(value):
        if not item.compare or item.name in without:
            continue
        found = token(getattr(value, item.name), foreign)
        if item.default is MISSING or found != token(item.default, foreign):
            yield (item.name, found)
