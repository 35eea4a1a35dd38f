"""The words of the facts for windows, triggers and refinements, as values of the model."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, TypeAlias

from penstock.kernel.port import END_OF_TIME
from penstock.model.expr import Call, Column, Expr, Literal
from penstock.model.refine import Mode, Refinement, Stamp
from penstock.model.trigger import (
    AfterDelay,
    AfterRow,
    AfterRows,
    AfterWatermark,
    AllOf,
    Always,
    AnyOf,
    Never,
    Repeat,
    Trigger,
    Until,
    WhenClosed,
    WhenWatermark,
)
from penstock.model.trigger import Sequence as InTurn
from penstock.model.window import Custom, Domain, Global, Hopping, Session, Span, Tumbling, Window
from tests.conformance.dataflow_time import duration, lateness, moment, span

Words: TypeAlias = Mapping[str, Any]

GAP = "gap"
"""The column with the gap of each row, where rows have gaps of their own."""
VALUE = "value"
ORDER = "row_number"
"""The column that numbers the rows of a script, for triggers that count them by hand."""
FIRE_EVERY = timedelta(days=10_000)
"""The clock period of a trigger fired by hand: the script goes there to fire it."""

_BY_HAND = AfterDelay(timedelta(0), FIRE_EVERY)

_MODES: Mapping[str, Mode] = {
    "discarding": "discarding",
    "accumulating": "accumulating",
    "accumulating+retracting": "retracting",
    "accumulating_and_retracting": "retracting",
    "retracting": "retracting",
}
_STAMPS: Mapping[str, Stamp] = {
    "end_of_window": "end",
    "earliest": "earliest",
    "earliest_transformed": "earliest",
    "latest": "latest",
}


def window_of(
    words: Words, *, touching: bool = False, gaps: bool = True, domain: Domain = "event"
) -> Window:
    """Give the window that the words describe.

    Beam and Flink allow `gaps` between hopping windows; Kafka Streams does not.
    """
    name = next(name for name in words if name in _WINDOWS)
    found = _WINDOWS[name](words[name] or {}, touching, domain)
    return replace(found, gaps=gaps) if isinstance(found, Hopping) else found


def _tumbling(words: Words, _touching: bool, domain: Domain) -> Window:
    return Tumbling(duration(words["size"]), duration(words.get("offset", 0)), domain)


def _hopping(words: Words, _touching: bool, domain: Domain) -> Window:
    size = duration(words["size"])
    slide = duration(words["slide"] if "slide" in words else words.get("period", words["size"]))
    return Hopping(size, slide, duration(words.get("offset", 0)), domain, gaps=True)


def _session(words: Words, touching: bool, domain: Domain) -> Window:
    gap = words["gap"]
    longest = duration(words["max_size"]) if "max_size" in words else None
    return Session(
        Column(GAP) if _by_row(gap) else duration(gap), longest, touching=touching, domain=domain
    )


def _by_row(gap: object) -> bool:
    return isinstance(gap, str) and not re.fullmatch(r"-?\d+(\.\d+)?\s*[a-z]*", gap.strip())


def _global(_words: Words, _touching: bool, domain: Domain) -> Window:
    return Global(domain)


def _validity(_words: Words, _touching: bool, domain: Domain) -> Window:
    return Custom("validity", _until_the_end, _until_the_next, domain)


def _until_the_end(time: int, _row: dict[str, object]) -> Sequence[Span]:
    return [(time, END_OF_TIME)]


def _until_the_next(spans: Sequence[Span]) -> Sequence[tuple[Sequence[Span], Span]]:
    """Let each window end where the next one begins."""
    starts = sorted({start for start, _ in spans})
    following = dict(zip(starts, [*starts[1:], END_OF_TIME], strict=True))
    return [
        ([held], (held[0], following[held[0]])) for held in spans if held[1] > following[held[0]]
    ]


_WINDOWS = {
    "fixed": _tumbling,
    "tumbling": _tumbling,
    "sliding": _hopping,
    "hopping": _hopping,
    "session": _session,
    "sessions": _session,
    "global": _global,
    "validity": _validity,
}


_BEAM_START = -9_223_372_036_854_775
"""The beginning of time in Beam, in milliseconds; its test streams start there at 12:00."""
_PLAIN: Mapping[str, Trigger] = {
    "default": WhenWatermark(),
    "always": Always(),
    "never": Never(),
}


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a source means by its words.

    `exact`: a count is looked at with every row, not after every bundle. `strict`: a
    deadline must be exceeded, not only reached. `test_stream`: the clock of Beam's test
    streams begins with time itself, long before any origin, where Beam rounds an aligned
    deadline up by one period more.
    """

    exact: bool = True
    strict: bool = False
    test_stream: bool = False

    def trigger_of(self, words: Words | str | None) -> Trigger:
        """Give the trigger that the words describe; none is the default one."""
        if words is None or isinstance(words, str):
            return mock_of(words or "")
        name, inner = next(iter(words.items()))
        if name in _PLAIN:
            return _PLAIN[name]
        match name:
            case "after_count" | "count":
                return AfterRows(inner, exact=self.exact)
            case "after_processing_time" | "after_synchronized_processing_time":
                return self._delay(inner)
            case "after_watermark":
                return self._watermark(inner or {})
            case _:
                return self._composite(name, inner)

    def _composite(self, name: str, inner: Any) -> Trigger:  # noqa: ANN401  any JSON
        if name == "repeatedly":
            return Repeat(self.trigger_of(inner))
        parts = tuple(self.trigger_of(part) for part in inner)
        match name:
            case "after_each":
                return InTurn(parts)
            case "after_all":
                return AllOf(parts)
            case "after_first" | "after_any":
                return AnyOf(parts)
            case "or_finally":
                return Until(*parts)
            case _:
                message = f"no trigger: {name}"
                raise ValueError(message)

    def _watermark(self, words: Words) -> Trigger:
        early, late = words.get("early"), words.get("late")
        if early is None and late is None:
            return AfterWatermark()
        return WhenClosed(
            None if early is None else self.trigger_of(early),
            None if late is None else self.trigger_of(late),
        )

    def _delay(self, words: Words) -> Trigger:
        more = timedelta(milliseconds=1) if self.strict else timedelta(0)
        delay = duration(words.get("delay", 0)) + more
        align = words.get("align_to")
        if align is None:
            return AfterDelay(delay)
        words = align if isinstance(align, Mapping) else {"period": align}
        period, origin = span(words["period"]), moment(words.get("origin", 0))
        if self.test_stream:
            delay += timedelta(milliseconds=period)
            origin += moment("12:00:00") - _BEAM_START
        # An origin is given as a time; only its place within the period matters.
        return AfterDelay(
            delay, timedelta(milliseconds=period), timedelta(milliseconds=origin % period)
        )


def mock_of(text: str, *, by_hand: bool = False) -> Trigger:
    """Read a trigger told in words: which elements make it fire, and with which it finishes.

    One that is fired `by_hand` fires also when the clock goes to its next long period.
    """
    if not by_hand and (not text or "default" in text or "end of window" in text):
        return WhenWatermark()
    clauses = re.split(r"[;,.]", text.partition(":")[2] or text)
    last: list[Trigger] = []
    others: list[Trigger] = [_BY_HAND] if by_hand else []
    for clause in clauses:
        found = _clause(clause)
        if found is not None:
            (last if "finish" in clause else others).append(found)
    if not last:
        return Repeat(_any(others)) if others else Never()
    return Until(Repeat(_any(others)), _any(last)) if others else _any(last)


def _any(triggers: list[Trigger]) -> Trigger:
    return triggers[0] if len(triggers) == 1 else AnyOf(tuple(triggers))


def _clause(clause: str) -> Trigger | None:
    if re.search(r"\b(every|each) (element|row|input)", clause):
        return AfterRows(1)
    numbers = [int(number) for number in re.findall(r"-?\d+", clause)]
    if re.search(r"\bfirst (element|row|input)", clause):
        return AfterRow(_is(ORDER, 1))
    if numbers and re.search(r"elements?|rows?|values?|inputs?", clause):
        return _any([AfterRow(_is(VALUE, number)) for number in numbers])
    return None


def _is(column: str, value: int) -> Expr:
    return Call("eq", (Column(column), Literal(value)))


def refinement_of(given: Words, trigger: Trigger) -> Refinement:
    """Give how panes relate, as a case says it; what it leaves open is as in Beam."""
    on_time = given.get("on_time_behavior", "fire_always") == "fire_always"
    waits = isinstance(trigger, WhenClosed) and trigger.late is not None
    return Refinement(
        mode=_MODES.get(given.get("accumulation", ""), "accumulating"),
        keep_late=lateness(given.get("allowed_lateness", "unbounded" if waits else None)),
        empty_on_time=on_time and not counts_only(trigger),
        empty_final=given.get("closing_behavior", "fire_if_non_empty") == "fire_always",
        stamp=_STAMPS[given.get("timestamp_combiner", "end_of_window")],
    )


def counts_only(trigger: Trigger) -> bool:
    """Whether a trigger knows no time: the sources show no empty pane on time for it."""
    match trigger:
        case AfterRows():
            return True
        case Repeat(part):
            return counts_only(part)
        case AllOf(parts) | AnyOf(parts) | InTurn(parts):
            return all(map(counts_only, parts))
        case _:
            return False
