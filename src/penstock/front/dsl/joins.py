"""Joins as the user writes them, made into what they mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, TypeAlias, get_args

from penstock.errors import ModelError
from penstock.front.dsl.expression import Expression, subject_of
from penstock.model.duration import Duration, duration_of
from penstock.model.join import How, Join, Pick
from penstock.model.join_bound import AsOf, Bound, Interval, Lasting, SameWindow, Whole
from penstock.model.join_check import check_join
from penstock.model.relation import Relation
from penstock.model.site import user_site
from penstock.model.window import Hopping, Session, Tumbling, Window
from penstock.schema.schema import Schema

On: TypeAlias = str | Sequence[str] | Mapping[str, str]
"""Columns that both sides have, or those of the left side with what they equal on the right."""
Within: TypeAlias = Duration | tuple[Duration, Duration]
"""How far apart rows may be, or how far before and after the left row the right one may lie."""
When: TypeAlias = Literal["arrival", "event time"]


@dataclass(frozen=True, slots=True)
class JoinWords:
    """All that one may say about a join."""

    on: On
    how: How = "inner"
    eager: bool = False
    suffix: str = "_right"
    where: Expression | None = None
    keep_late: Duration | None = None


def stream_bound(within: Within | None, window: Window | None, until: str | None = None) -> Bound:
    """Give what bounds a join of two streams; `Whole` where nothing was said, to be refused."""
    if sum(said is not None for said in (within, window, until)) > 1:
        raise ModelError(
            "JOIN_BOUND",
            "a join is given two of within, a window and until",
            hint="Rows meet within a time of each other, in one window, or while one of them"
            " lasts: give one of them.",
        )
    if until is not None:
        return Lasting("left", until)
    if window is not None:
        if not isinstance(window, Tumbling | Hopping | Session):
            raise ModelError(
                "JOIN_WINDOW",
                f"rows are to meet in a window of the kind {type(window).__name__.lower()}",
                hint="Join in a tumbling, hopping or session window, or give `within=...`.",
            )
        return SameWindow(window)
    if within is None:
        return Whole()
    if isinstance(within, tuple):
        before, after = within
        return Interval(_span(before), _span(after))
    return Interval(_span(within), _span(within))


def lookup_bound(as_of: When, *, wait: bool, corrected: bool, keep: Duration | None) -> Bound:
    """Give what bounds a stream's look into a table."""
    if as_of not in get_args(When):
        raise ModelError(
            "JOIN_AS_OF",
            f'a table is looked up as of "{as_of}"',
            hint='Give "arrival" or "event time".',
        )
    if as_of == "arrival" and (wait or corrected):
        raise ModelError(
            "JOIN_AS_OF",
            "a row that meets what is known when it comes has nothing to wait for",
            hint='Give as_of="event time", or leave out wait and corrected.',
        )
    kept = timedelta(0) if keep is None else _span(keep)
    return AsOf(as_of, wait=wait, corrected=corrected, keep=kept)


def joined(left: Relation, right: Relation, bound: Bound, words: JoinWords) -> Join:
    """Give the join of two relations; one that would never end is refused."""
    if words.how not in get_args(How):
        raise ModelError(
            "JOIN_HOW",
            f'a join of the kind "{words.how}"',
            hint=f"There are {', '.join(get_args(How))}.",
        )
    site = user_site()
    on = pairs(words.on)
    for mine, other in on:
        left.schema.field(mine, role="join key", site=site)
        right.schema.field(other, role="join key", site=site)
    columns = picks(left.schema, right.schema, on, words)
    condition = None if words.where is None else subject_of(words.where)
    late = timedelta(0) if words.keep_late is None else duration_of(words.keep_late)
    bounds = (words.eager, condition, site, late)
    join = Join(left, right, on, words.how, bound, columns, *bounds)
    check_join(join)
    return join


def picks(
    left: Schema, right: Schema, on: tuple[tuple[str, str], ...], words: JoinWords
) -> tuple[Pick, ...]:
    """Give the columns of the result: left ones, then right ones but for keys named alike."""
    merged = {mine for mine, other in on if mine == other}
    taken = set(left.names)
    found = [Pick(name, name, name if name in merged else None) for name in left.names]
    if words.how in ("semi", "anti"):
        return tuple(Pick(name, name) for name in left.names)
    for name in right.names:
        if name not in merged:
            called = f"{name}{words.suffix}" if name in taken else name
            taken.add(called)
            found.append(Pick(called, None, name))
    return tuple(found)


def pairs(on: On) -> tuple[tuple[str, str], ...]:
    """Give the columns that are equal, side by side."""
    if isinstance(on, str):
        return ((on, on),)
    if isinstance(on, Mapping):
        return tuple(on.items())
    return tuple((name, name) for name in on)


def _span(text: Duration) -> timedelta:
    if isinstance(text, str) and text.strip().startswith("-"):
        return -duration_of(text.strip()[1:])
    return duration_of(text)
