"""Panes compared with what a fact expects: only the fields it names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from penstock.kernel.port import END_OF_TIME, START_OF_TIME
from tests.conformance.dataflow_time import moment
from tests.conformance.engine import Pane
from tests.conformance.runner import same

Expected: TypeAlias = Mapping[str, Any]
Fits: TypeAlias = Callable[[Pane, Expected], bool]


def span_of(given: Any, *, inclusive: bool = False) -> tuple[int, int]:  # noqa: ANN401  any JSON
    """Read the bounds of a window; `inclusive` where its last millisecond is given."""
    if given == "global":
        return START_OF_TIME, END_OF_TIME
    start, end = (moment(bound) for bound in given)
    return start, end + 1 if inclusive else end


def fits(pane: Pane, expected: Expected, *, inclusive: bool = False, slack: int = 0) -> bool:
    """Whether a pane is the one expected; emission times may differ by `slack`."""
    if pane.weight != (-1 if expected.get("retraction") else 1):
        return False
    return all(
        _field(pane, name, wanted, inclusive=inclusive, slack=slack)
        for name, wanted in expected.items()
    )


def _field(pane: Pane, name: str, wanted: Any, *, inclusive: bool, slack: int) -> bool:  # noqa: ANN401
    match name:
        case "window":
            found = pane.window == span_of(wanted, inclusive=inclusive)
        case "value":
            found = pane.value == wanted
        case "values":
            found = in_order(pane.value) == in_order(wanted)
        case "key":
            found = pane.row["key"] == str(wanted)
        case "nonspeculative_index" if pane.first and pane.timing == "early":
            # Beam makes the first pane of its timing alone: the number written is not looked at.
            found = pane.nonspeculative_index in (-1, None) and wanted in (-1, 0)
        case "nonspeculative_index" if pane.nonspeculative_index is None:
            found = True
        case "timing" | "index" | "nonspeculative_index" | "first" | "last":
            found = getattr(pane, name) == wanted
        case "final":
            found = pane.last is wanted
        case "early" | "late":
            found = (pane.timing == name) is wanted
        case _:
            found = _time(pane, name, wanted, slack)
    return bool(found)


def _time(pane: Pane, name: str, wanted: Any, slack: int) -> bool:  # noqa: ANN401
    match name:
        case "emit_time" | "round_end":
            return abs(pane.clock - moment(wanted)) <= slack
        case "output_timestamp" | "timestamp":
            end = pane.window[1] - 1
            expected = end if wanted == "end of window" else moment(wanted)
            return pane.time in (expected, None)
        case "retraction" | "retract":
            return True
        case _:
            return bool(pane.row[name] == moment(wanted))


def in_order(values: Any) -> list[Any]:  # noqa: ANN401
    """Give values sorted: a list of rows has no order across batches."""
    listed = values if isinstance(values, list) else [values]
    return sorted(listed, key=lambda value: (str(type(value)), value))


def same_panes(got: Sequence[Pane], wanted: Sequence[Expected], fit: Fits = fits) -> None:
    """Fail unless each pane fits one that is expected, and each expected one is there."""
    left = list(got)
    for expected in wanted:
        found = next((pane for pane in left if fit(pane, expected)), None)
        if found is None:
            message = f"no pane like {dict(expected)!r} among {told(left)}"
            raise AssertionError(message)
        left.remove(found)
    if left:
        message = f"panes nobody expects: {told(left)}"
        raise AssertionError(message)


def same_sequence(got: Sequence[Pane], wanted: Sequence[Expected], fit: Fits = fits) -> None:
    """Fail unless the panes fit in their order, up to the order of windows at one moment."""
    same_panes(got, wanted, fit)
    for window in {pane.window for pane in got}:
        mine = [pane for pane in got if pane.window == window]
        theirs = [item for item in wanted if "window" in item and span_of(item["window"]) == window]
        for pane, expected in zip(mine, theirs, strict=False):
            if not fit(pane, expected):
                message = f"{told([pane])} comes where {dict(expected)!r} should"
                raise AssertionError(message)
    clocks = [pane.clock for pane in got]
    same(clocks, sorted(clocks), "order of emission")


def told(panes: Iterable[Pane]) -> str:
    """Tell panes shortly."""
    return "; ".join(
        f"{'-' if pane.weight < 0 else ''}{dict(pane.row)} at {pane.clock} time {pane.time} "
        f"{pane.timing} {pane.index}/{pane.nonspeculative_index}"
        f"{' first' if pane.first else ''}{' last' if pane.last else ''}"
        for pane in panes
    )
