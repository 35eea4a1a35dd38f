"""Arguments that must be the same in every row: patterns, units, numbers of places."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from penstock.errors import ModelError, did_you_mean
from penstock.model.expr import Expr, Literal
from penstock.model.pattern_text import (
    group_count,
    like_pattern,
    refuse_foreign_syntax,
    replacement_parts,
)

UNITS = (
    "year", "yyyy", "yy", "quarter", "month", "mon", "mm", "week", "day", "dd", "hour", "minute",
    "second", "millisecond",
)  # fmt: skip
_MOST_PLACES = 15
_Check: TypeAlias = Callable[[str, Sequence[str | int]], None]

_WHOLE, _TEXT = int, str
_CONSTANTS: Mapping[str, Mapping[int, type]] = {
    "date_trunc": {0: _TEXT},
    "like": {1: _TEXT},
    "lpad": {1: _WHOLE, 2: _TEXT},
    "regexp_extract": {1: _TEXT, 2: _WHOLE},
    "regexp_extract_all": {1: _TEXT, 2: _WHOLE},
    "regexp_like": {1: _TEXT},
    "regexp_replace": {1: _TEXT, 2: _TEXT},
    "replace": {1: _TEXT, 2: _TEXT},
    "round": {1: _WHOLE},
    "rpad": {1: _WHOLE, 2: _TEXT},
    "split": {1: _TEXT},
}


def check_constants(function: str, arguments: Sequence[Expr], site: str) -> None:
    """Refuse a column where a constant is needed, and a constant with no meaning."""
    needed = _CONSTANTS.get(function)
    if needed is None:
        return
    values: list[str | int] = []
    for place, argument in enumerate(arguments):
        if place not in needed:
            continue
        value = argument.value if isinstance(argument, Literal) else None
        if not isinstance(value, str | int) or not isinstance(value, needed[place]):
            what = "text" if needed[place] is _TEXT else "whole number"
            raise ModelError(
                "ARGUMENT_CONSTANT",
                f'argument {place + 1} of "{function}" is not a constant {what}{_at(site)}',
                hint="Write the value itself: it must be the same in every row.",
            )
        values.append(value)
    if values and function in _CHECKS:
        _CHECKS[function](site, values)


def _places(site: str, values: Sequence[str | int]) -> None:
    if not -_MOST_PLACES <= int(values[0]) <= _MOST_PLACES:
        raise ModelError(
            "ROUND_PLACES",
            f"a number is rounded to {values[0]} places{_at(site)}",
            hint=f"Give one from -{_MOST_PLACES} to {_MOST_PLACES}.",
        )


def _unit(site: str, values: Sequence[str | int]) -> None:
    unit = str(values[0]).lower()
    if unit not in UNITS:
        raise ModelError(
            "TIME_UNIT",
            f'date_trunc has no unit "{unit}"{_at(site)}',
            hint=did_you_mean(unit, UNITS) or f"Use one of {', '.join(UNITS)}.",
        )


def _like(_: str, values: Sequence[str | int]) -> None:
    like_pattern(str(values[0]))


def _regex(site: str, values: Sequence[str | int]) -> None:
    refuse_foreign_syntax(str(values[0]), site)


def _replacement(site: str, values: Sequence[str | int]) -> None:
    _regex(site, values)
    replacement_parts(str(values[1]), group_count(str(values[0])))


def _group(site: str, values: Sequence[str | int]) -> None:
    _regex(site, values)
    pattern, group = str(values[0]), values[1] if len(values) > 1 else 1
    if not 0 <= int(group) <= group_count(pattern):
        raise ModelError(
            "REGEX_GROUP",
            f'the pattern "{pattern}" has no group {group}{_at(site)}',
            hint=f"It has {group_count(pattern)}; 0 is the whole of it.",
        )


def _at(site: str) -> str:
    return f" ({site})" if site else ""


_CHECKS: Mapping[str, _Check] = {
    "round": _places,
    "date_trunc": _unit,
    "like": _like,
    "regexp_like": _regex,
    "split": _regex,
    "regexp_replace": _replacement,
    "regexp_extract": _group,
    "regexp_extract_all": _group,
}
