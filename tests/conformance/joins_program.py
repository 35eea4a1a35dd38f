"""The programs of the facts about joins: streams, tables, and what brings them together."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from penstock.model.expr import Call, Column, Expr, Literal
from penstock.model.join import How, Join, Pick
from penstock.model.join_bound import Bound
from penstock.model.latest import Latest, Order
from penstock.model.plan import Plan, Sink
from penstock.model.relation import Relation
from penstock.model.source import Stream
from penstock.model.stateless import Filter, Named, Project, Rekey
from penstock.model.watermark import BoundedDisorder
from penstock.schema.schema import Field, Schema
from penstock.schema.types import STRING, Type
from tests.conformance.engine import OUTPUT

LEFT = "left"
RIGHT = "right"
KEY = "key"
VALUE = "value"

_TOLD = BoundedDisorder(idle=None, max_ahead=None)
_NOTHING = timedelta(0)
_TYPES: Mapping[str, How] = {
    "inner": "inner",
    "left": "left",
    "right": "right",
    "outer": "full",
    "full": "full",
    "semi": "semi",
    "anti": "anti",
}


@dataclass(frozen=True, slots=True)
class Meeting:
    """How two relations meet, beside their key."""

    how: How
    bound: Bound
    eager: bool = False
    keep_late: timedelta = _NOTHING


def how_of(name: str) -> How:
    """Read the type of a join."""
    return _TYPES[name.removesuffix("-outer")]


def stream(
    topic: str, columns: Mapping[str, Type] | None = None, event_time: str | None = None
) -> Stream:
    """Give a stream of a topic: a key and a value unless columns are named."""
    known = {KEY: STRING, VALUE: STRING} if columns is None else columns
    fields = tuple(Field(name, kind) for name, kind in known.items())
    return Stream(topic, Schema(fields), event_time, _TOLD)


def table(topic: str, order: Order = "arrival") -> Latest:
    """Give a topic of keys and values as a table."""
    return table_of(topic, {KEY: STRING, VALUE: STRING}, order)


def table_of(topic: str, columns: Mapping[str, Type], order: Order = "arrival") -> Latest:
    """Give a topic as a table by its key; a record without a value deletes what has its key.

    A record without a key is left out, as in the tables of Kafka Streams.
    """
    fields = tuple(Field(name, kind) for name, kind in columns.items())
    source = Stream(topic, Schema(fields), watermark=_TOLD, key=(KEY,))
    return Latest(Filter(source, Call("is_not_null", (Column(KEY),))), (KEY,), order)


def with_value(relation: Relation) -> Relation:
    """Leave out rows without a value: in a stream of Kafka's there is nothing to be joined."""
    return Filter(relation, Call("is_not_null", (Column(VALUE),)))


def rekeyed(relation: Relation) -> Relation:
    """Pass rows through a step that changes nothing, and give them their key again."""
    columns = tuple(Named(name, Column(name)) for name in relation.schema.names)
    return Rekey(Project(relation, columns), (KEY,))


def with_column(relation: Relation, name: str, expr: Expr) -> Relation:
    """Add a column."""
    columns = tuple(Named(known, Column(known)) for known in relation.schema.names)
    return Project(relation, (*columns, Named(name, expr)))


def text_after(mark: str, *, but: str | None = None) -> Expr:
    """Give the text after a mark in the value; one that stands for null is."""
    found: Expr = Call(
        "regexp_extract", (Column(VALUE), Literal(f"{re.escape(mark)}(.*)"), Literal(1))
    )
    return found if but is None else Call("nullif", (found, Literal(but)))


def joined_by_key(left: Relation, right: Relation, meeting: Meeting) -> Join:
    """Join two relations by their keys: the key of either, and the value of each."""
    picks = [Pick(KEY, KEY, KEY), Pick(LEFT, VALUE), Pick(RIGHT, None, VALUE)]
    if meeting.how in ("semi", "anti"):
        picks = [Pick(KEY, KEY), Pick(LEFT, VALUE)]
    return join(left, right, ((KEY, KEY),), meeting, picks)


def looked_up(left: Relation, right: Relation, column: str, meeting: Meeting) -> Join:
    """Join rows with a table by a column that names its key; the key is the left row's."""
    picks = (Pick(KEY, KEY), Pick(LEFT, VALUE), Pick(RIGHT, None, VALUE))
    return join(left, right, ((column, KEY),), meeting, picks)


def join(
    left: Relation,
    right: Relation,
    on: tuple[tuple[str, str], ...],
    meeting: Meeting,
    picks: Sequence[Pick],
) -> Join:
    """Join two relations."""
    return Join(
        left,
        right,
        on,
        meeting.how,
        meeting.bound,
        tuple(picks),
        meeting.eager,
        keep_late=meeting.keep_late,
    )


def as_value(relation: Relation, mark: str) -> Relation:
    """Give joined rows one value, as Kafka's joiner of the facts does: left, mark, right."""
    texts = [Call("coalesce", (Column(side), Literal("null"))) for side in (LEFT, RIGHT)]
    value = Call("concat", (texts[0], Literal(mark), texts[1]))
    return Project(relation, (Named(KEY, Column(KEY)), Named(VALUE, value)))


def plan_of(relation: Relation) -> Plan:
    """Give the program that writes a relation."""
    return Plan("conformance", (Sink(relation, OUTPUT),))
