"""Tables, joins, processes and patterns in words."""

from __future__ import annotations

from datetime import timedelta

from penstock.model.duration import duration_text
from penstock.model.join import Join
from penstock.model.join_bound import AsOf, Bound, Interval, Lasting, SameWindow
from penstock.model.latest import Latest
from penstock.model.match import Match, Skip
from penstock.model.pattern_words import condition_text, pattern_words
from penstock.model.process import Process
from penstock.model.settle import Settle
from penstock.model.step_words import Words
from penstock.model.versions import Versions
from penstock.model.window_words import window_words


def stateful_words(relation: Settle | Latest | Versions | Join | Process | Match) -> Words:
    """Say a step that remembers rows in words."""
    match relation:
        case Latest(keys=keys, order=order):
            return Words("table", f"of the latest row by {', '.join(keys)}, by {order}")
        case Versions(keys=keys, keep=keep):
            kept = f"final {_span(keep)} after they ended"
            return Words("versions", f"of rows by {', '.join(keys)}", (kept,))
        case Settle(keys=keys, told=told):
            how = () if told is None else (f"{told.gone} tells which rows are gone",)
            return Words("settle", f"changes by {', '.join(keys)}", how)
        case Join():
            on = ", ".join(one if one == two else f"{one} = {two}" for one, two in relation.on)
            alone = ("rows alone come at once",) if relation.eager else ()
            return Words(f"{relation.how} join", f"on {on}", (_meets(relation.bound), *alone))
        case Process(keys=keys, name=name):
            return Words("process", f"{name} by {', '.join(keys) or 'nothing'}", _about(relation))
        case Match(keys=keys, pattern=pattern):
            by = f"by {', '.join(keys) or 'nothing'}"
            return Words("match", by, (*pattern_words(pattern), _given(relation)))


def _about(process: Process) -> tuple[str, ...]:
    held = (f"remembers {item.name}: {item}{_kept(item.ttl)}" for item in process.state)
    called = (
        f"calls {item.name} every {_span(item.every)} of {item.domain} time"
        for item in process.punctuations
    )
    order = ("rows and timers by their times",) if process.in_order else ()
    beside = (f"gives rows beside to {side.name}" for side in process.sides)
    return (*order, *held, *called, *beside)


def _kept(ttl: timedelta | None) -> str:
    return "" if ttl is None else f", until {_span(ttl)} after it was last written"


def _given(relation: Match) -> str:
    gives = ", ".join(f"{item.name} = {condition_text(item.expr)}" for item in relation.measures)
    rows = "a row for each match" if relation.rows == "one" else "all rows of each match"
    return f"gives {rows}{f': {gives}' if gives else ''}; then on from {_next(relation.skip)}"


def _next(skip: Skip) -> str:
    match skip.to:
        case "past last row":
            return "the row after the last"
        case "next row":
            return "the next row"
        case place:
            return f"the {place} row of {skip.step}"


def _meets(bound: Bound) -> str:
    match bound:
        case Interval(before, after):
            return f"rows {_span(before)} before to {_span(after)} after"
        case Lasting(side, column):
            return f"rows while those of the {side} side last, up to {column}"
        case SameWindow(window):
            return f"rows of one window, {window_words(window)}"
        case AsOf(by="arrival"):
            return "the row known when the left one comes"
        case AsOf(wait=wait):
            return f"the row valid at the left one's time{', once that is known' if wait else ''}"
        case _:
            return "all rows of both tables"


def _span(duration: timedelta) -> str:
    sign = "-" if duration < timedelta(0) else ""
    return sign + duration_text(abs(duration)) if duration else "0s"
