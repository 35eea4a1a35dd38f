"""MATCH_RECOGNIZE: sequences of rows that follow a pattern.

    FROM trades MATCH_RECOGNIZE (
        PARTITION BY symbol
        ORDER BY ROWTIME
        MEASURES FIRST(a.price) AS high, LAST(b.price) AS low
        ONE ROW PER MATCH
        AFTER MATCH SKIP PAST LAST ROW
        PATTERN (a b+ -> c) WITHIN 1 HOUR GRACE PERIOD 10 SECONDS
        DEFINE b AS b.price < PREV(b.price), c AS c.price > FIRST(a.price)
    ) AS falls

In a pattern, `a b` are rows one directly after the other; `a -> b` leaves out rows that `b`
cannot begin with, `a => b` any rows. `a | b` is one of them, `*`, `+`, `?`, `{2}`, `{2,}`, `{,5}`
and `{2,5}` say how often, a `?` after it as seldom as possible; then WITH GAPS lets other rows
lie between, and UNTIL (condition) ends it. `{- a -}` is matched and not given out. `NOT a`: the
next row is not like that; after an arrow: there is none like that before what follows, or,
at the end, in all the time of WITHIN.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from penstock.front.sql.tree import Duration, Name, Node
from penstock.front.sql.tree_expression import Expression, SortItem


@dataclass(frozen=True, slots=True)
class PatternVariable(Node):
    """One row like this variable."""

    name: Name


@dataclass(frozen=True, slots=True)
class PatternNot(Node):
    """No row like this variable."""

    name: Name


@dataclass(frozen=True, slots=True)
class PatternGap(Node):
    """An arrow between two parts: `->` leaves out other rows, `=>` any."""

    rows: Literal["others", "any"]


@dataclass(frozen=True, slots=True)
class PatternSequence(Node):
    """Parts in order; a gap stands between those that an arrow joins."""

    parts: tuple[PatternPart, ...]


@dataclass(frozen=True, slots=True)
class PatternChoice(Node):
    """The first of these that leads to a match."""

    parts: tuple[PatternPart, ...]


@dataclass(frozen=True, slots=True)
class PatternRepeat(Node):
    """A part `least` to `most` times, without an end where that is none."""

    part: PatternPart
    least: int
    most: int | None = None
    greedy: bool = True
    gaps: bool = False
    until: Expression | None = None


@dataclass(frozen=True, slots=True)
class PatternHidden(Node):
    """A part whose rows are not given out."""

    part: PatternPart


PatternPart: TypeAlias = (
    PatternVariable
    | PatternNot
    | PatternGap
    | PatternSequence
    | PatternChoice
    | PatternRepeat
    | PatternHidden
)


@dataclass(frozen=True, slots=True)
class PatternMeasure(Node):
    """A column of the result; `final` asks the whole match for every row of it."""

    expression: Expression
    name: Name
    final: bool = False


@dataclass(frozen=True, slots=True)
class PatternDefinition(Node):
    """When a row is like a variable."""

    name: Name
    condition: Expression


@dataclass(frozen=True, slots=True)
class PatternSkip(Node):
    """Where the next match begins; `first` and `last` name a variable."""

    to: Literal["past last row", "next row", "first", "last"]
    variable: Name | None = None


@dataclass(frozen=True, slots=True)
class MatchClause(Node):
    """What MATCH_RECOGNIZE has in its brackets."""

    pattern: PatternPart
    definitions: tuple[PatternDefinition, ...] = ()
    measures: tuple[PatternMeasure, ...] = ()
    partition_by: tuple[Expression, ...] = ()
    order_by: tuple[SortItem, ...] = ()
    rows: Literal["one", "all"] = "one"
    skip: PatternSkip | None = None
    within: Duration | None = None
    grace: Duration | None = None
