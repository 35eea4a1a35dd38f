"""One text of a column, read with care: for formats whose values are texts, as lines have them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import partial
from typing import Any

from penstock.schema.codec.json_row import Read, UnfitError, reader_of
from penstock.schema.codec.times import Times
from penstock.schema.types import Kind, Type

_WHOLE = re.compile(r"[+-]?\d{1,400}", re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
_WORDS: Mapping[str, float] = {
    "nan": float("nan"),
    "inf": float("inf"),
    "infinity": float("inf"),
    "-inf": float("-inf"),
    "-infinity": float("-inf"),
}


def text_reader(type_: Type, times: Times) -> Read:
    """Give what reads the texts of a column; raises `UnfitError` for a text that has no value."""
    read = reader_of(type_, times)
    if type_.kind in (Kind.STRING, Kind.BYTES):
        return read
    if type_.kind is Kind.BOOLEAN:
        return _boolean
    if type_.kind is Kind.FLOAT64:
        return partial(_float, read)
    if type_.numeric:
        return lambda text: read(_number(text.strip(" \t")))
    return lambda text: read(_number(text))


def _boolean(text: str) -> bool:
    if text.casefold() in ("true", "false"):
        return text.casefold() == "true"
    raise UnfitError(f'"{text}", where true or false is expected')


def _float(read: Callable[[Any], Any], text: str) -> float:
    text = text.strip(" \t")
    found: float = _WORDS[text.lower()] if text.lower() in _WORDS else read(_number(text))
    return found


def _number(text: str) -> int | Decimal | str:
    """Give the number a text is, or the text, which is then refused with its name."""
    if _WHOLE.fullmatch(text):
        return int(text)
    return Decimal(text) if _NUMBER.fullmatch(text) else text
