"""Which columns of its input a step reads itself, apart from those it only passes on."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from penstock.model.aggregate import Aggregate
from penstock.model.change_rows import ChangeRows, RowChanges
from penstock.model.dedup import Dedup
from penstock.model.enrich import Enrich
from penstock.model.expr import Expr, columns_of
from penstock.model.latest import Latest
from penstock.model.match import Match
from penstock.model.parts import triggers_in
from penstock.model.process import Process
from penstock.model.relation import Relation
from penstock.model.settle import Settle
from penstock.model.stateless import Apply, Expect, Filter, Project, Rekey, Restamp, Retire
from penstock.model.top_n import TopN
from penstock.model.trigger import AfterRow
from penstock.model.versions import Versions
from penstock.model.window import (
    Buffered,
    ByDelta,
    ByPunctuation,
    Custom,
    Policy,
    Session,
    Window,
)


def reads(relation: Relation) -> frozenset[str]:
    """Give the columns that the step cannot do without; code of the user's may read any."""
    match relation:
        case Aggregate() | Match():
            return relation.reads if isinstance(relation, Match) else _of_aggregate(relation)
        case Expect() | Apply():
            return _of_checked(relation)
        case Project(_, columns):
            return _of(column.expr for column in columns)
        case Filter(_, condition) | Retire(_, condition):
            return _of((condition,))
        case ChangeRows() | RowChanges() | Enrich():
            return _of_tables(relation)
        case _:
            return frozenset(_named(relation))


def _of_tables(relation: ChangeRows | RowChanges | Enrich) -> frozenset[str]:
    match relation:
        case Enrich(columns=picks):
            return frozenset(relation.keys).union(pick.left for pick in picks if pick.left)
        case RowChanges(gone=gone):
            return frozenset((gone,))
        case ChangeRows(gone=gone, keys=keys, condition=asked):
            return _of(() if asked is None else (asked,)) | {gone, *(keys or ())}


def _named(relation: Relation) -> tuple[str, ...]:
    match relation:
        case Dedup(source, ()) | Process(source):
            # Rows without a key are copies where they are alike in all columns; a function may
            # look at any of them.
            return source.schema.names
        case Dedup(_, keys) | Rekey(_, keys) | Latest(_, keys) | Versions(_, keys):
            return keys
        case Settle() | TopN():
            return relation.reads
        case Restamp(_, event_time):
            return (event_time,)
        case _:
            return ()


def _of_checked(relation: Expect | Apply) -> frozenset[str]:
    # A parked row is kept to be mended and sent again, and so as a whole.
    if isinstance(relation, Expect) and relation.otherwise != "park":
        return _of((relation.condition,))
    return frozenset(relation.source.schema.names)


def _of(exprs: Iterable[Expr]) -> frozenset[str]:
    return frozenset(name for expr in exprs for name in columns_of(expr))


def _of_aggregate(relation: Aggregate) -> frozenset[str]:
    measured = _of(argument for measure in relation.measures for argument in measure.arguments)
    parts = triggers_in(relation.when)
    asked = _of(part.condition for part in parts if isinstance(part, AfterRow))
    window = _of_window(relation.window, relation.source)
    return frozenset(relation.keys) | measured | asked | window


def _of_window(window: Window | None, source: Relation) -> frozenset[str]:
    match window:
        case Custom():
            return frozenset(source.schema.names)
        case Session(gap) if not isinstance(gap, timedelta):
            return _of((gap,))
        case Buffered(_, evict, fire):
            return _of_policy(evict) | (_of_policy(fire) if fire is not None else frozenset())
        case _:
            return frozenset()


def _of_policy(policy: Policy) -> frozenset[str]:
    match policy:
        case ByDelta(column):
            return frozenset((column,))
        case ByPunctuation(condition):
            return _of((condition,))
        case _:
            return frozenset()
