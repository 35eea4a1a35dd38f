"""What a transcript expects, compared with what came: only the fields that are named."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from typing import Any, TypeAlias

from penstock.errors import PenstockError, UsageError, did_you_mean
from penstock.kernel.port import PANE_COLUMNS, TIME, WEIGHT
from penstock.schema.schema import Schema
from penstock.testing.moment import millis, read_moment

Row: TypeAlias = Mapping[str, Any]

_LETTER = {
    "_step": "step",
    "_site": "site",
    "_reason": "reason",
    "_error": "error",
    "_time": "time",
}


def match_rows(
    wanted: Sequence[Row], found: Sequence[Row], schema: Schema | None, site: str
) -> None:
    """Demand these rows in any order; one without `_weight` is added, not taken back."""
    if schema is not None:
        for row in wanted:
            _require_known(row, (*schema.names, WEIGHT, TIME, *PANE_COLUMNS), site)
    full = [{WEIGHT: 1, **row} for row in wanted]
    _match(full, found, lambda want, row: _fits(want, {WEIGHT: 1, **row}), site)


def match_letters(wanted: Sequence[Row], found: Sequence[Row], site: str) -> None:
    """Demand these late rows or dead letters in any order; `_error` is a part of the text."""

    def fits(want: Row, letter: Row) -> bool:
        row = {name: value for name, value in want.items() if name not in _LETTER}
        beside = {_LETTER[name]: value for name, value in want.items() if name in _LETTER}
        text = str(beside.pop("error", ""))
        return _fits(row, letter["row"]) and _fits(beside, letter) and text in str(letter)

    _match(wanted, found, fits, site)


def _match(
    wanted: Sequence[Row], found: Sequence[Row], fits: Callable[[Row, Row], bool], site: str
) -> None:
    left = list(found)
    missing = []
    # Those that name most fields first, so that one with few does not take another's row.
    for want in sorted(wanted, key=len, reverse=True):
        fitting = next((row for row in left if fits(want, row)), None)
        if fitting is None:
            missing.append(want)
        else:
            left.remove(fitting)
    if missing or left:
        lines = [f"{site}: not as expected"]
        lines += [f"  missing   {_shown(row)}" for row in missing]
        lines += [f"  came also {_shown(row)}" for row in left]
        raise AssertionError("\n".join(lines))


def _shown(row: Row) -> str:
    parts = (f"{name}: {v.isoformat() if isinstance(v, date) else v}" for name, v in row.items())
    return f"{{{', '.join(parts)}}}"


def _fits(want: Row, row: Row) -> bool:
    return all(name in row and _same(value, row[name]) for name, value in want.items())


def _same(want: object, found: object) -> bool:
    if isinstance(want, int | float) and isinstance(found, float):
        return _near(want, found)
    match want, found:
        case list(), list():
            return len(want) == len(found) and all(map(_same, want, found))
        case Mapping(), Mapping():
            return want.keys() == found.keys() and all(_same(want[k], found[k]) for k in want)
        case _, datetime():
            want, found = _moment(want), millis(found)
        case str(), date():
            found = found.isoformat()
        case str(), int() if not isinstance(found, bool):
            want = _moment(want)
    return want == found


def _near(want: float, found: float) -> bool:
    if math.isnan(want):
        return math.isnan(found)
    return math.isclose(want, found, rel_tol=1e-9, abs_tol=1e-12)


def _moment(text: object) -> int | None:
    try:
        return read_moment(text)
    except (PenstockError, ValueError):
        return None


def _require_known(row: Row, known: Sequence[str], site: str) -> None:
    for name in row:
        if name not in known:
            raise UsageError(
                "TRANSCRIPT_COLUMN",
                f'a result has no "{name}" ({site})',
                hint=did_you_mean(name, known) or f"It has {', '.join(known)}.",
            )
