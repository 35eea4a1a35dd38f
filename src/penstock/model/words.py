"""Steps, windows, triggers and refinements in words."""

from __future__ import annotations

from datetime import timedelta

from penstock.model.aggregate import Aggregate
from penstock.model.change_rows import ChangeRows, RowChanges
from penstock.model.dedup import Dedup
from penstock.model.duration import duration_text
from penstock.model.enrich import Enrich
from penstock.model.expr import Column
from penstock.model.expr_text import expr_text
from penstock.model.join import Join
from penstock.model.latest import Latest
from penstock.model.match import Match
from penstock.model.measure import Measure
from penstock.model.process import Process
from penstock.model.refine import Refinement
from penstock.model.relation import Relation
from penstock.model.settle import Settle
from penstock.model.source import Stream
from penstock.model.start import BEGINNING, start_words
from penstock.model.stateful_words import stateful_words
from penstock.model.stateless import (
    Apply,
    Expect,
    Filter,
    Named,
    Project,
    Rekey,
    Restamp,
    Retire,
    Union,
    Updates,
)
from penstock.model.static_table import static_words
from penstock.model.step_words import Words
from penstock.model.top_n import TopN
from penstock.model.trigger_words import trigger_words
from penstock.model.versions import Versions
from penstock.model.watermark import AtEnd, BoundedDisorder, Perfect, Punctuated, Watermark
from penstock.model.window_words import window_words

_UNREAD = {
    "dead_letter": "what cannot be read is a dead letter",
    "skip": "what cannot be read is passed over",
    "fail": "what cannot be read ends the job",
}


def step_words(relation: Relation) -> Words:
    """Say a step in words."""
    match relation:
        case Stream():
            return _stream(relation)
        case Aggregate():
            return _aggregate(relation)
        case Dedup(keys=keys, within=within):
            span = f" within {duration_text(within)}" if within is not None else ""
            return Words("dedup", f"by {', '.join(keys)}{span}")
        case TopN():
            return _top(relation)
        case Settle() | Latest() | Versions() | Join() | Process() | Match():
            return stateful_words(relation)
        case _:
            return _stateless(relation)


def refinement_words(refinement: Refinement) -> str:
    """Say a refinement in words."""
    late = refinement.keep_late
    return refinement.mode + (f", kept {_span(late)} for late rows" if late is not None else "")


def watermark_words(watermark: Watermark) -> str:
    """Say a watermark in words."""
    idle = f", idle after {_span(watermark.idle)}" if watermark.idle is not None else ""
    match watermark:
        case BoundedDisorder(delay):
            return f"{_span(delay)} behind the latest row{idle}"
        case Punctuated(column):
            return f"said by {column}{idle}"
        case Perfect():
            return f"sorted input{idle}"
        case AtEnd():
            return "at the end of the input"


def measure_words(measure: Measure) -> str:
    """Say an aggregate in words."""
    of = [expr_text(argument) for argument in measure.arguments]
    settings = [f"{name}={value!r}" for name, value in measure.settings]
    called = measure.function if measure.user is None else type(measure.user).__name__
    return f"{measure.name} = {called}({', '.join([*of, *settings])})"


def _stream(relation: Stream) -> Words:
    told = relation.event_time if relation.times is None else relation.times.name
    time = told or "ingestion"
    kept = ("a changelog",) if relation.changelog else ()
    mark = f"watermark {watermark_words(relation.watermark)}"
    files = (f"files {relation.files}",) if relation.files is not None else ()
    begins = () if relation.start == BEGINNING else (f"from {start_words(relation.start)}",)
    details = (*files, *_format(relation), f"event time {time}", mark, *begins, *kept)
    return Words("stream", relation.topic, details)


def _format(relation: Stream) -> tuple[str, ...]:
    """Say how values are read, and what becomes of one that cannot be."""
    if relation.format is None:
        return ()
    keys = "" if relation.key_format is None else f", keys {relation.key_format}"
    return (f"format {relation.format}{keys}; {_UNREAD[relation.on_error]}",)


def _aggregate(relation: Aggregate) -> Words:
    where = "all time" if relation.window is None else window_words(relation.window)
    details = (
        f"what  {'; '.join(map(measure_words, relation.measures)) or 'keys only'}",
        f"where {where}",
        f"when  {trigger_words(relation.when)}",
        f"how   {refinement_words(relation.refinement)}",
    )
    return Words("aggregate", _by(relation.keys).strip() or "all rows", details)


def _stateless(relation: Relation) -> Words:
    match relation:
        case Project(columns=columns):
            return Words("project", ", ".join(map(_column, columns)))
        case Filter(condition=condition):
            return Words("filter", expr_text(condition))
        case Retire() | Enrich() | ChangeRows() | RowChanges():
            return _of_tables(relation)
        case Apply(name=name, shape=shape):
            return Words(_SHAPES[shape], name)
        case Expect(name=name, condition=condition, otherwise=otherwise):
            return Words("expect", name, (f"{expr_text(condition)}, else {otherwise}",))
        case _:
            return _same_rows(relation)


def _of_tables(relation: Retire | Enrich | ChangeRows | RowChanges) -> Words:
    match relation:
        case Retire(condition=condition):
            return Words("delete", f"unless {expr_text(condition)}")
        case RowChanges(gone=gone):
            return Words("rows as changes", f"taken back where {gone}")
        case ChangeRows(gone=gone, keys=keys, condition=condition):
            which = "" if keys is None else f" of each {', '.join(keys) or 'batch'}"
            only = "" if condition is None else f" where {expr_text(condition)}"
            return Words("changes as rows", f"marked by {gone}{which}{only}")
        case Enrich(table=table, on=pairs, how=how):
            on = ", ".join(one if one == two else f"{one} = {two}" for one, two in pairs)
            return Words(f"{how} join", f"on {on} with {static_words(table)}")


def _same_rows(relation: Relation) -> Words:
    match relation:
        case Union():
            return Words("union")
        case Rekey(keys=keys):
            return Words("key", _by(keys).strip())
        case Updates():
            return Words("new rows")
        case Restamp(event_time=column):
            return Words("event time", column)
        case _:
            return Words(type(relation).__name__.lower())


_SHAPES = {
    "map": "map",
    "filter": "filter",
    "flat_map": "flat map",
    "arrow": "map tables (Arrow)",
    "polars": "map tables (polars)",
}


def _column(named: Named) -> str:
    same = named.expr == Column(named.name)
    return named.name if same else f"{named.name} = {expr_text(named.expr)}"


def _top(step: TopN) -> Words:
    names = [f"{'greatest' if item.descending else 'least'} {item.column}" for item in step.sorting]
    alike = " and those alike" if step.ties else ""
    ends = "" if step.until is None else f", once, at {step.until}"
    return Words("top", f"{step.n} {', '.join(names)}{alike}{_by(step.keys)}{ends}")


def _by(keys: tuple[str, ...]) -> str:
    return f" by {', '.join(keys)}" if keys else ""


def _span(duration: timedelta) -> str:
    return "for ever" if duration == timedelta.max else duration_text(duration)
