"""The words of the facts about windows: gaps of rows, triggers and evictors of Flink."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from penstock.model.refine import Refinement
from penstock.model.trigger import (
    AfterDelay,
    AfterEventTime,
    AfterRows,
    AnyOf,
    Repeat,
    Trigger,
    WhenClosed,
)
from tests.conformance.dataflow_time import duration, lateness, span
from tests.conformance.dataflow_words import Dialect, Words, counts_only

AT_END = WhenClosed(late=AfterRows(1))
"""Flink's default: at the end of the window, and with each late row it still takes."""


def flink_trigger(words: Words | str | None) -> Trigger:
    """Give a trigger of Flink. A purging one differs by its refinement only."""
    if words is None or isinstance(words, str):
        return AT_END
    name, inner = next(iter(words.items()))
    match name:
        case "count":
            return Repeat(AfterRows(inner))
        case "purging":
            return flink_trigger(inner)
        case "continuous_event_time":
            return AnyOf((Repeat(AfterEventTime(duration(inner))), AT_END))
        case "continuous_processing_time":
            return Repeat(AfterDelay(timedelta(0), duration(inner)))
        case _:
            plain = name in ("event_time", "processing_time", "end_of_window")
            return AT_END if plain else Dialect().trigger_of(words)


def flink_refinement(given: Words) -> Refinement:
    """Give how the panes of a script relate: a purged window begins again without rows."""
    words = given.get("trigger")
    purging = isinstance(words, Mapping) and "purging" in words
    purges = bool(given.get("fire_and_purge")) or purging
    return Refinement(
        mode="discarding" if purges else "accumulating",
        keep_late=lateness(given.get("allowed_lateness")),
        # A window that is not purged is given out whole at its end, changed or not.
        empty_on_time=not purges and not counts_only(flink_trigger(words)),
    )


def gap_of(words: Any, element: Mapping[str, Any]) -> int | None:  # noqa: ANN401  any JSON
    """Read the gap of one element where the case tells it in words."""
    if not isinstance(words, str):
        return None
    if "gap" in element:
        return span(element["gap"])
    if re.search(r"timestamp|\bt\b", words):
        return int(element["t"])
    for clause in words.split(";"):
        named = re.match(r"\s*(key\w+)\s*:(.*)", clause)
        if named is None or named[1] == element.get("key"):
            return _choice(clause if named is None else named[2], element.get("value"))
    message = f"no gap for {element!r} in {words!r}"
    raise ValueError(message)


def _choice(clause: str, value: object) -> int:
    """Read `1000 when value is 10, otherwise 2000`, its turned form, or one number."""
    main, _, other = clause.partition("otherwise")
    asked = re.search(r"value (?:is )?(-?\d+)", main)
    if asked is None:
        return int(_numbers(main)[0])
    chosen = [number for number in _numbers(main) if number != asked[1]]
    gap = chosen[0] if chosen else asked[1]
    return int(gap if value == int(asked[1]) else _numbers(other)[0])


def _numbers(text: str) -> list[str]:
    return re.findall(r"-?\d+", text)
