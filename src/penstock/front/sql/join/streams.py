"""A stream joined with a stream, or looked up in a table: a join of the model."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from penstock.front.sql.join.bound import Bounded
from penstock.front.sql.join.side import (
    LEFT_TIME,
    ON,
    RIGHT_TIME,
    Side,
    left_picks,
    picks_of,
    with_time,
)
from penstock.front.sql.reading import Rows
from penstock.front.sql.rewiring import with_streams
from penstock.front.sql.rows import HEADERS
from penstock.model.expr import Call, Column, Expr
from penstock.model.join import How, Join, Pick
from penstock.model.join_bound import AsOf
from penstock.model.relation import Relation
from penstock.model.source import Stream
from penstock.model.stateless import Named, Project, Updates
from penstock.model.watermark import IN_ORDER

_NO_TIME = timedelta(0)
_LEFT_HEADERS, _RIGHT_HEADERS = "_left_headers", "_right_headers"


def joined_streams(one: Side, other: Side, how: How, bounded: Bounded) -> Relation:
    """Give the rows of a stream that meet others; what was taken back is not told."""
    alone = how in ("semi", "anti")
    if isinstance(bounded.bound, AsOf):
        other = replace(other, rows=_looked_up(other.rows, bounded.bound))
    left, right = one.relation(nulls=alone), other.relation()
    headers = tuple(
        Pick(name, **{side: HEADERS})
        for name, side, rows in (
            (_LEFT_HEADERS, "left", left),
            (_RIGHT_HEADERS, "right", right),
        )
        if HEADERS in rows.schema.names and not (alone and side == "right")
    )
    picks = left_picks(one) if alone else picks_of(one, other)
    join = Updates(
        Join(
            left,
            right,
            tuple((name, name) for name in one.compared),
            how,
            bounded.bound,
            (*picks, *headers),
            eager=bounded.eager,
            condition=bounded.condition,
            site="JOIN",
            keep_late=bounded.late,
        ),
        "JOIN",
    )
    told = tuple(Named(HEADERS, found) for found in _headers(join))
    if not alone:
        return _without(with_time(join, told), _LEFT_HEADERS, _RIGHT_HEADERS)
    names = [name for name in join.schema.names if not name.startswith(ON)]
    same = [Named(name, Column(name)) for name in names if name != _LEFT_HEADERS]
    return Project(join, (*same, *told), "JOIN")


def _looked_up(rows: Rows, bound: AsOf) -> Rows:
    """Let a table that falls silent not hold back what waits for the rows of the stream.

    What is known when a row comes has no time to wait for at all.
    """
    silence = _NO_TIME if bound.by == "arrival" else IN_ORDER.idle

    def patient(stream: Stream) -> Stream:
        return replace(stream, watermark=replace(stream.watermark, idle=silence))

    return replace(rows, relation=with_streams(rows.relation, patient))


def _headers(join: Relation) -> tuple[Expr, ...]:
    """Give the headers of the later row, as the record that made two rows meet has them."""
    names = join.schema.names
    left, right = Column(_LEFT_HEADERS), Column(_RIGHT_HEADERS)
    if _RIGHT_HEADERS not in names:
        return (left,) if _LEFT_HEADERS in names else ()
    if _LEFT_HEADERS not in names:
        return ()
    later = Call("ge", (Column(RIGHT_TIME), Column(LEFT_TIME)))
    alone = Call("is_null", (Column(LEFT_TIME),))
    return (Call("if", (Call("coalesce", (later, alone)), right, left)),)


def _without(relation: Relation, *left_out: str) -> Relation:
    names = [name for name in relation.schema.names if name not in left_out]
    return Project(relation, tuple(Named(name, Column(name)) for name in names), "JOIN")
