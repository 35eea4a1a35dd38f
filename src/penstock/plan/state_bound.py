"""What each operator remembers, about how much that is, and what makes it leave."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta

from penstock.model.aggregate import Aggregate
from penstock.model.dedup import Dedup
from penstock.model.join import Join
from penstock.model.join_bound import AsOf, Interval, Lasting, SameWindow
from penstock.model.match import Match
from penstock.model.measure import Measure
from penstock.model.physical import Keyed, Physical
from penstock.model.process import Process, StateField
from penstock.model.progress import Progress
from penstock.model.refine import FOREVER
from penstock.model.relation import Relation
from penstock.model.settle import Settle
from penstock.model.top_n import TopN
from penstock.model.versions import Versions
from penstock.model.window import Hopping, Session, Tumbling, Window
from penstock.plan.moment import span_text
from penstock.schema.schema import Field
from penstock.schema.types import Kind, Type

_SIZES: Mapping[Kind, int] = {Kind.BOOLEAN: 1, Kind.INT32: 4, Kind.DATE: 4, Kind.DECIMAL: 16}
_NUMBER = 8
_TEXT = 24
_CONTROL = 20
"""Weight, event time and arrival of a stored row."""
_RATE = 1000
"""Rows a second that an estimate supposes of a stream."""
_FEW = 10_000
_HOLDS_VALUES = ("collect_list", "collect_set", "count_distinct", "top_k", "quantile")


@dataclass(frozen=True, slots=True)
class StateBound:
    """One thing that an operator remembers: so many bytes each, until something ends it.

    A `span` is how long rows stay; without it and without `by_key` nothing bounds it. There is
    one of it where it is `alone`.
    """

    what: str
    size: int
    ends: str
    span: timedelta | None = None
    by_key: bool = False
    alone: bool = False

    @property
    def bounded(self) -> bool:
        """Whether it stops growing while keys and rows keep coming at the same rate."""
        return self.by_key or self.span is not None

    def text(self) -> str:
        """Say it in a line, with an estimate."""
        if self.span is not None:
            seconds = max(int(self.span.total_seconds()), 1)
            much = f"at {_RATE:,} rows/s about {_bytes(self.size * seconds * _RATE)}"
        elif self.alone:
            much = f"about {_bytes(self.size)}"
        elif self.by_key:
            much = f"about {_bytes(self.size * 1_000_000)} a million keys"
        else:
            much = f"about {_bytes(self.size * 1_000_000)} a million rows, WITHOUT BOUND"
        return f"{self.what}, {much}; {self.ends}"


def state_lines(physical: Physical, progress: Progress | None) -> Iterator[str]:
    """Say for every operator what it remembers, and how much that is now if it runs."""
    now = {} if progress is None else {state.operator: state for state in progress.states}
    if not physical.operators:
        yield "nothing is remembered"
    for keyed in physical.operators:
        bounds = state_bounds(keyed)
        for bound in bounds:
            yield f"{keyed.id}: {bound.text()}"
        if not bounds:
            yield f"{keyed.id}: nothing is remembered"
        if keyed.id in now:
            found = now[keyed.id]
            yield f"  now {found.rows:,} rows, {_bytes(found.bytes)}"


def state_bounds(keyed: Keyed) -> tuple[StateBound, ...]:
    """Give what one operator remembers."""
    match keyed.relation:
        case Aggregate() as relation:
            return (_of_aggregate(relation, keyed.keep_late),)
        case Join() as relation:
            return tuple(_of_join(relation, keyed.keep_late))
        case Process() as relation:
            return tuple(_of_process(relation))
        case Settle():
            return ()
        case Versions(source=source, keep=keep):
            ends = f"a version leaves {span_text(max(keep, keyed.keep_late))} after its end"
            size = _row(source.schema.fields)
            return (StateBound("the versions of each key", size, ends, by_key=True),)
        case relation:
            return (_of_rows(relation, keyed.keep_late),)


def _of_aggregate(relation: Aggregate, keep_late: timedelta) -> StateBound:
    keys = [relation.source.schema.field(key) for key in relation.keys]
    size = _row(keys) + 2 * _NUMBER + sum(map(_measure, relation.measures))
    of = f"a result of each key ({', '.join(relation.keys)})" if keys else "one result"
    if relation.window is None:
        return StateBound(of, size, "none ever leaves", by_key=True, alone=not keys)
    if keep_late == FOREVER:
        return StateBound(f"{of} and window", size, "late rows are kept for without an end")
    span = _window_span(relation.window)
    leaves = f"a window leaves {span_text(keep_late)} after its end"
    if span is None:
        return StateBound(f"{of} and window", size, leaves, by_key=True)
    return StateBound(f"{of} and window of {span_text(span)}", size, leaves, by_key=True)


def _of_join(relation: Join, keep_late: timedelta) -> Iterator[StateBound]:
    left, right = _row(relation.left.schema.fields), _row(relation.right.schema.fields)
    if isinstance(relation.bound, AsOf) and relation.left.retracts:
        given = "what rows of the left side were answered with"
        yield StateBound(given, left + right, "rows taken back leave", by_key=True)
    match relation.bound:
        case Interval(before, after):
            yield _side("left", left, max(after, timedelta(0)) + keep_late)
            yield _side("right", right, max(before, timedelta(0)) + keep_late)
        case Lasting(side, column):
            sizes = {"left": left, "right": right}
            ends = f"they leave at their {column}"
            yield StateBound(f"rows of the {side} side", sizes.pop(side), ends, by_key=True)
            for other, size in sizes.items():
                yield _side(other, size, keep_late)
        case SameWindow(window):
            span = (_window_span(window) or timedelta(0)) + keep_late
            yield _side("left", left, span)
            yield _side("right", right, span)
        case AsOf(by="arrival"):
            yield StateBound("the table's rows", right, "a deleted key leaves", by_key=True)
        case AsOf(wait=wait, corrected=corrected, keep=keep):
            ends = f"older versions leave {span_text(keep)} after their end"
            yield StateBound("the table's rows", right, ends, by_key=True)
            if wait or corrected:
                yield _side("left", left, keep)
        case _:
            yield StateBound("the left table's rows", left, "deleted rows leave", by_key=True)
            yield StateBound("the right table's rows", right, "deleted rows leave", by_key=True)


def _side(side: str, size: int, span: timedelta) -> StateBound:
    return StateBound(f"rows of the {side} side", size, f"they leave after {span_text(span)}", span)


def _of_process(relation: Process) -> Iterator[StateBound]:
    keys = _row(relation.source.schema.field(key) for key in relation.keys)
    for field in relation.state:
        what = f'"{field.name}" of each key'
        unused = None if field.ttl is None else f"it leaves when {span_text(field.ttl)} unused"
        ends = unused or "your function clears it"
        yield StateBound(what, keys + _held(field), ends, by_key=True)
    yield StateBound(
        "timers of each key", keys + 2 * _NUMBER, "one leaves when it fires", by_key=True
    )


def _of_rows(relation: Relation, keep_late: timedelta) -> StateBound:
    size = _row(relation.inputs[0].schema.fields)
    match relation:
        case Dedup(keys=keys, within=None):
            chosen = [relation.source.schema.field(key) for key in keys]
            return StateBound("every key seen", _row(chosen), "none ever leaves", by_key=True)
        case Dedup(within=within):
            return StateBound("keys seen", size, f"they leave after {within}", within)
        case Match(pattern=pattern):
            span = pattern.within
            if span is None:
                return StateBound("rows of matches that began", size, "they leave with their match")
            return _side("matching", size, span + keep_late)
        case _:
            return StateBound(*_of_keys(relation, size), by_key=True)


def _of_keys(relation: Relation, size: int) -> tuple[str, int, str]:
    if isinstance(relation, TopN) and relation.until is not None:
        return "the best rows of open groups", size, f"they leave at {relation.until}"
    if relation.inputs[0].retracts:
        return "all rows that were not taken back", size, "those taken back leave"
    return "a row of each key", size, "a deleted key leaves"


def _window_span(window: Window) -> timedelta | None:
    match window:
        case Tumbling(size) | Hopping(size):
            return size
        case Session(gap) if isinstance(gap, timedelta):
            return gap
        case _:
            return None


def _measure(measure: Measure) -> int:
    return 10 * _TEXT if measure.function.startswith(_HOLDS_VALUES) else 2 * _NUMBER


def _held(field: StateField) -> int:
    several = 1 if field.holds == "value" else 10
    return several * _type(field.type)


def _row(fields: Iterable[Field]) -> int:
    return _CONTROL + sum(_type(field.type) for field in fields)


def _type(type_: Type) -> int:
    if type_.kind is Kind.STRUCT:
        return sum(_type(part) for _, part in type_.fields)
    if type_.kind in (Kind.ARRAY, Kind.MAP):
        return 4 * _TEXT
    if type_.kind in (Kind.STRING, Kind.BYTES):
        return _TEXT
    return _SIZES.get(type_.kind, _NUMBER)


def _bytes(size: int) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if size < _FEW or unit == "GB":
            return f"{size:,} {unit}"
        size //= 1000
    raise AssertionError
