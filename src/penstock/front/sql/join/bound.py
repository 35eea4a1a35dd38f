"""What bounds a join: a time between two rows, a window, or that a table has one row a key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from penstock.errors import ModelError, SqlError
from penstock.front.sql.expression import Resolver
from penstock.front.sql.join.condition import Compared
from penstock.front.sql.join.lasting import lasting
from penstock.front.sql.join.side import Side
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.tree_expression import Expression
from penstock.front.sql.tree_pattern import MatchClause
from penstock.front.sql.tree_query import AsOf, Join, Relation, Within, WithinWindow
from penstock.front.sql.walk import nodes_of
from penstock.front.sql.window_kind import window_of
from penstock.model import join_bound as model
from penstock.model.expr import Call, Expr
from penstock.model.window import Hopping, Session, Tumbling

_DAY = timedelta(days=1)
_NONE = timedelta(0)
_OF_LEFT = ("semi", "anti")


@dataclass(frozen=True, slots=True)
class Bounded:
    """What bounds a join, whether rows without a partner come at once, and how late rows may be.

    By a `foreign` key the left rows of two tables keep their own one. A `condition` must hold of
    pairs as well.
    """

    bound: model.Bound
    eager: bool = False
    late: timedelta = _NONE
    foreign: bool = False
    condition: Expr | None = None


def graces(relation: Relation) -> Iterator[timedelta]:
    """Give how long joins and patterns of FROM wait for late rows, as far as they say it."""
    for node in nodes_of(relation):
        match node:
            case Within(grace=grace) if grace is not None:
                yield grace.delta
            case WithinWindow(window) if window.grace is not None:
                yield window.grace.delta
            case MatchClause(grace=grace) if grace is not None:
                yield grace.delta
            case _:
                continue


def bounded(join: Join, compared: Compared, text: SourceText) -> Bounded:
    """Give what bounds a join; one that cannot be is refused."""
    one, other = compared.one, compared.other
    if not one.rows.table and not other.rows.table:
        found = None
        if join.bound is None and join.how == "inner":
            said = (join.left, join.right)
            found = lasting(compared.further, (one, other), said, compared.resolver)
        if found is not None:
            return Bounded(found.bound, condition=_all(found.rest, compared.resolver))
        made = _of_streams(join, one, text)
        return replace(made, condition=_all(compared.further, compared.resolver))
    problem = _problem(join, one, other)
    if problem is not None:
        raise SqlError("SQL_JOIN", text.shown(problem[0], join.span), hint=problem[1])
    if not one.rows.table:
        return Bounded(_as_of(join.bound, text) if isinstance(join.bound, AsOf) else model.AsOf())
    return Bounded(model.Whole(), foreign=join.how in _OF_LEFT or not one.by_key)


def _all(conditions: Sequence[Expression], resolver: Resolver) -> Expr | None:
    """Give the condition that all of these hold; none where there are none."""
    whole: Expr | None = None
    for item in conditions:
        found = resolver.condition(item, "ON").expr
        whole = found if whole is None else Call("and", (whole, found))
    return whole


def _of_streams(join: Join, one: Side, text: SourceText) -> Bounded:
    match join.bound:
        case Within(before, after, grace):
            # Without GRACE a row alone comes at once, and what comes a day later still meets it.
            waits = grace is not None or join.how in _OF_LEFT
            try:
                between = model.Interval(before.delta, after.delta)
            except ModelError as error:
                shown = text.shown("WITHIN ends before it begins", join.bound.span)
                raise SqlError("SQL_JOIN", shown, hint=error.hint) from error
            return Bounded(between, eager=not waits, late=_NONE if waits else _DAY)
        case WithinWindow(said):
            window = window_of(said, Resolver(one.rows.scope))
            fixed = not isinstance(window, Session) or isinstance(window.gap, timedelta)
            if isinstance(window, Tumbling | Hopping | Session) and fixed:
                return Bounded(model.SameWindow(window))
            raise SqlError(
                "SQL_JOIN",
                text.shown("rows cannot meet in such a window", said.span),
                hint="Use TUMBLING, HOPPING or SESSION with a fixed gap, or WITHIN 1 HOUR.",
            )
        case AsOf():
            raise SqlError(
                "SQL_JOIN",
                text.shown("ASOF looks up a stream, which has no row of a key", join.span),
                hint="Let the right source be a table, or write JOIN ... WITHIN 1 HOUR.",
            )
        case None:
            raise SqlError(
                "SQL_JOIN",
                text.shown("two streams are joined without WITHIN", join.span),
                hint="Add WITHIN 1 HOUR, or AND b.time BETWEEN a.time AND a.until.",
            )


def _as_of(said: AsOf, text: SourceText) -> model.AsOf:
    if said.by == "arrival" and (said.answer != "at once" or said.keep is not None):
        raise SqlError(
            "SQL_JOIN",
            text.shown("what is known when a row comes needs no wait and no history", said.span),
            hint="Write BY EVENT TIME, or leave out WAITING, CORRECTED and KEEP.",
        )
    return model.AsOf(
        said.by,
        wait=said.answer == "waiting",
        corrected=said.answer == "corrected",
        keep=_kept(said),
    )


def _kept(said: AsOf) -> timedelta:
    """Give how long versions are kept: a day by default, as late rows are elsewhere."""
    if said.by == "arrival":
        return _NONE
    return _DAY if said.keep is None else said.keep.delta


def _problem(join: Join, one: Side, other: Side) -> tuple[str, str] | None:
    """Say why a table cannot be joined so, and what to do."""
    tables = one.rows.table and other.rows.table
    if isinstance(join.bound, Within | WithinWindow):
        return "WITHIN is given for a table", "Leave it out; ASOF JOIN looks up a row by its time."
    if not other.rows.table:
        return "a table is joined with a stream", "Let the stream be first."
    if tables and isinstance(join.bound, AsOf):
        return "ASOF looks up for the rows of a table", "Leave out ASOF, or let a stream be first."
    if not other.by_key and not (tables and join.how in _OF_LEFT):
        return "ON does not compare the key of the right table", "Compare with its whole key."
    if join.how in ("right", "full") and not (tables and one.by_key):
        return f"{join.how.upper()} JOIN of what is no table by its key", "Use INNER or LEFT."
    return None
