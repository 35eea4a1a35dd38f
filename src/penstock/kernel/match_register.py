"""What a condition remembers of the rows matched so far: places of rows, counts and sums.

A register is a value that two ways to match can be compared by: where all registers are the
same, whatever comes next is the same for both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from penstock.kernel.match_function import MAKERS
from penstock.model.navigation import Navigation
from penstock.schema.types import Kind, Type

Sheet: TypeAlias = Sequence[Sequence[Any]]
"""Columns of values, by number."""
_Fold: TypeAlias = Callable[[Any, Any], Any]


@dataclass(frozen=True, slots=True)
class Register:
    """What no rows amount to, what one row more makes of it, and the value it stands for."""

    empty: Any
    add: Callable[[Sheet, Any, int], Any]
    read: Callable[[Sheet, Any], Any]


def register_of(navigation: Navigation, column: int | None, type_: Type) -> Register:
    """Give the register of a value of earlier rows, which lies in a column of the sheet."""
    if column is None:
        return Register(0, lambda _, held, __: held + 1, _as_it_is)
    if navigation.function in ("first", "last"):
        return _place_register(navigation, column)
    match navigation.function:
        case "avg":
            return Register((0.0, 0), partial(_averaged, column), _average)
        case "collect_list":
            return Register((), partial(_folded, column, _appended), lambda _, held: list(held))
        case "count":
            return Register(0, partial(_folded, column, lambda held, _: held + 1), _as_it_is)
        case _:
            fold = _fold(navigation, type_)
            return Register(None, partial(_folded, column, fold), _as_it_is)


def _place_register(navigation: Navigation, column: int) -> Register:
    offset = navigation.offset
    if navigation.function == "last":
        return Register((), partial(_latest, offset + 1), partial(_place, column, 0, offset))
    return Register((), partial(_earliest, offset + 1), partial(_place, column, offset, offset))


def _fold(navigation: Navigation, type_: Type) -> _Fold:
    names = {"sum": "add", "min": "least", "max": "greatest"}
    join = MAKERS[names[navigation.function]]((type_, type_), type_)
    changed: Callable[[Any], Any] = _same
    if navigation.function == "sum":
        # A sum of booleans counts those that hold.
        changed = {Kind.INT64: int, Kind.FLOAT64: float}.get(type_.kind, _same)
    return lambda held, value: changed(value) if held is None else join(held, changed(value))


def _same(value: Any) -> Any:  # noqa: ANN401  # of any type
    return value


def _as_it_is(_: Sheet, held: Any) -> Any:  # noqa: ANN401  # of any type
    return held


def _latest(most: int, _: Sheet, held: tuple[int, ...], at: int) -> tuple[int, ...]:
    return (at,) if most == 1 else (*held, at)[-most:]


def _earliest(most: int, _: Sheet, held: tuple[int, ...], at: int) -> tuple[int, ...]:
    return held if len(held) == most else (*held, at)


def _place(column: int, place: int, offset: int, sheet: Sheet, held: tuple[int, ...]) -> Any:  # noqa: ANN401
    return sheet[column][held[place]] if len(held) > offset else None


def _folded(column: int, fold: _Fold, sheet: Sheet, held: Any, at: int) -> Any:  # noqa: ANN401
    value = sheet[column][at]
    return held if value is None else fold(held, value)


def _appended(held: tuple[Any, ...], value: Any) -> tuple[Any, ...]:  # noqa: ANN401
    return (*held, value)


def _averaged(column: int, sheet: Sheet, held: tuple[float, int], at: int) -> tuple[float, int]:
    value = sheet[column][at]
    return held if value is None else (held[0] + float(value), held[1] + 1)


def _average(_: Sheet, held: tuple[float, int]) -> float | None:
    return held[0] / held[1] if held[1] else None
