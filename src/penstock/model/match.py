"""Sequences of rows of one key that follow a pattern."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from typing_extensions import override

from penstock.errors import ModelError
from penstock.model.expr import Expr, columns_of
from penstock.model.navigation import formula_type, navigations_in
from penstock.model.pattern import Pattern
from penstock.model.pattern_check import check_reach
from penstock.model.pattern_condition import check_condition
from penstock.model.pattern_part import denied_in, until_in
from penstock.model.relation import OneInput
from penstock.model.stateless import Named
from penstock.schema.schema import Field, Schema

Rows: TypeAlias = Literal["one", "all"]


@dataclass(frozen=True, slots=True)
class Skip:
    """Where to look for the next match: after the last row, or from a row of this one on.

    `first` and `last` name the row of a `step`. A row that this match began with, and a step
    without rows, count as the next row, since else the same match would be found for ever.
    """

    to: Literal["past last row", "next row", "first", "last"] = "past last row"
    step: str = ""


PAST_LAST_ROW = Skip()


@dataclass(frozen=True, slots=True)
class Match(OneInput):
    """One row for each match of a pattern in the rows of a key, in the order of event time.

    It holds the keys and the `measures`; with `rows` of "all" there is one for each row of the
    match, all its columns and the measures as they stand there. Each has the event time of the
    last row of its match.
    """

    keys: tuple[str, ...]
    pattern: Pattern
    measures: tuple[Named, ...] = ()
    skip: Skip = PAST_LAST_ROW
    rows: Rows = "one"
    site: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        for key in self.keys:
            self.source.schema.field(key, role="key", site=self.site)
        if self.source.retracts:
            raise ModelError(
                "PATTERN_CHANGELOG",
                f"a pattern is looked for in rows that may be taken back ({self.site})",
                hint="Match a stream of events, or the results of windows when they close.",
            )
        self._check_skip()
        self._check_conditions()
        names = tuple(step.name for step in self.pattern.steps)
        for measure in self.measures:
            check_reach(navigations_in(measure.expr), names, self.site)
        if not self.schema.fields:
            raise ModelError(
                "PATTERN_EMIT",
                f"a match has no key and gives no column ({self.site})",
                hint='Say what to give, as in emit={"count": ps.matched()}.',
            )

    def _check_skip(self) -> None:
        named = self.skip.to in ("first", "last")
        names = [step.name for step in self.pattern.steps]
        if named and self.skip.step not in names:
            raise ModelError(
                "PATTERN_SKIP",
                f'the next match is to begin at a row of "{self.skip.step}" ({self.site})',
                hint=f"Name a step of the pattern: {', '.join(names)}.",
            )

    def _check_conditions(self) -> None:
        known, body = self.source.schema, self.pattern.body
        for step in dict.fromkeys((*self.pattern.steps, *denied_in(body))):
            if step.condition is not None:
                check_condition(step.condition, step.name, known, step.site or self.site)
        for until in until_in(body):
            check_condition(until, "", known, self.site)

    @property
    def reads(self) -> frozenset[str]:
        """The columns of the source that it cannot do without."""
        if self.rows == "all":
            return frozenset(self.source.schema.names)
        read = {name for expr in self._exprs() for name in columns_of(expr)}
        return frozenset(self.keys).union(read)

    def _exprs(self) -> tuple[Expr, ...]:
        body = self.pattern.body
        steps = (*self.pattern.steps, *denied_in(body))
        conditions = (step.condition for step in steps if step.condition is not None)
        return (*conditions, *until_in(body), *(measure.expr for measure in self.measures))

    @property
    @override
    def schema(self) -> Schema:
        known = self.source.schema
        given = known.fields if self.rows == "all" else map(known.field, self.keys)
        made = (
            Field(measure.name, formula_type(measure.expr, known, self.site))
            for measure in self.measures
        )
        return Schema((*given, *made))

    @property
    @override
    def retracts(self) -> bool:
        return False
