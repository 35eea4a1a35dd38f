"""Joins in time and patterns, asked of what is there: nothing is late, and only the end ends."""

from __future__ import annotations

from dataclasses import replace

from penstock.front.sql.reading import Rows
from penstock.front.sql.rewiring import with_streams
from penstock.front.sql.tree import Duration
from penstock.front.sql.tree_query import AsOf, Join, Relation, Within
from penstock.model.source import Stream
from penstock.model.watermark import AtEnd

_AT_END = AtEnd()


def settled(relation: Relation) -> Relation:
    """Let joins say what is certain: which row has no partner, and which one was valid then."""
    if not isinstance(relation, Join):
        return relation
    left, bound = settled(relation.left), relation.bound
    if isinstance(bound, Within) and bound.grace is None:
        bound = replace(bound, grace=Duration(0, "second", span=bound.span))
    if isinstance(bound, AsOf) and bound.by == "event time":
        bound = replace(bound, answer="waiting")
    return replace(relation, left=left, bound=bound)


def until_the_end(rows: Rows) -> Rows:
    """Let rows be complete when all that is there was read, in whatever order it was."""

    def whole(stream: Stream) -> Stream:
        return replace(stream, watermark=_AT_END)

    return replace(rows, relation=with_streams(rows.relation, whole))
