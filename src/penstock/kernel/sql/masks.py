"""Texts with their letters hidden."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeAlias

import polars as pl

from penstock.kernel.functions.argument import Arguments, Lowering
from penstock.kernel.sql.rows import called
from penstock.schema.types import Type

_Masks: TypeAlias = tuple[str | None, ...]
_USUAL: _Masks = ("X", "x", "n", "-")
_PLACES = {"Lu": 0, "Ll": 1, "Nd": 2}
_OTHER = 3


def masked(text: str, masks: _Masks = _USUAL) -> str:
    """Put a sign for each kind of character; null leaves that kind as it is."""
    if any(mask is not None and len(mask) != 1 for mask in masks):
        raise ValueError
    signs = (masks[_PLACES.get(unicodedata.category(letter), _OTHER)] for letter in text)
    return "".join(
        letter if sign is None else sign for letter, sign in zip(text, signs, strict=True)
    )


def _all(text: str, *masks: str | None) -> str:
    return masked(text, masks or _USUAL)


def _partly(
    hide: Callable[[int, int], tuple[int, int]], text: str, count: int, *masks: str | None
) -> str:
    """Hide the part from one place to another."""
    if count < 0:
        raise ValueError
    start, end = hide(len(text), min(count, len(text)))
    return text[:start] + masked(text[start:end], masks or _USUAL) + text[end:]


def _masked_whole(arguments: Arguments, gives: Type) -> pl.Expr:
    """Hide whole texts by the usual signs as columns; by others one after the other."""
    if len(arguments) > 1:
        return _lowered(_all, 1)(arguments, gives)
    text = arguments[0].value
    # Each sign is of a kind that is replaced before it or is itself.
    for kind, sign in ((r"[^\p{Lu}\p{Ll}\p{Nd}]", "-"), (r"\p{Lu}", "X"), (r"\p{Ll}", "x")):
        text = text.str.replace_all(kind, sign)
    return text.str.replace_all(r"\p{Nd}", "n")


def _lowered(function: Callable[..., str], given: int) -> Lowering:
    def lowered(arguments: Arguments, gives: Type) -> pl.Expr:
        def safe(*row: object) -> str | None:
            return None if None in row[:given] else function(*row)

        return called(safe, [argument.value for argument in arguments], gives, nulls=True)

    return lowered


MASKS: Mapping[str, Lowering] = {
    "mask": _masked_whole,
    "mask_left": _lowered(partial(_partly, lambda _, count: (0, count)), 2),
    "mask_right": _lowered(partial(_partly, lambda size, count: (size - count, size)), 2),
    "mask_keep_left": _lowered(partial(_partly, lambda size, count: (count, size)), 2),
    "mask_keep_right": _lowered(partial(_partly, lambda size, count: (0, size - count)), 2),
}
