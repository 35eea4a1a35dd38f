"""Streams as the user builds them: each step gives a new one, and the old one stays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import UnionType
from typing import Any, Literal, NoReturn, Self

from typing_extensions import override

from penstock.errors import ModelError
from penstock.front.dsl.aggregates import count as count_rows
from penstock.front.dsl.expression import Expression, Operand, Subject, subject_of
from penstock.front.dsl.hazard import warn_of_loss
from penstock.front.dsl.keyed import keys_of
from penstock.front.dsl.place import placed
from penstock.front.dsl.program import Program
from penstock.front.dsl.steps import (
    Row,
    applied,
    extended,
    filtered,
    renamed,
    result_schema,
    selected,
    without,
)
from penstock.front.dsl.watermarks import maybe
from penstock.model.aggregate import Aggregate
from penstock.model.dedup import Dedup
from penstock.model.duration import Duration
from penstock.model.measure import Measure
from penstock.model.plan import Sink
from penstock.model.refine import DEFAULT_REFINEMENT, Refinement
from penstock.model.relation import Relation
from penstock.model.site import user_site
from penstock.model.stateless import Expect, Rekey, Restamp, Union
from penstock.model.top_n import TopN
from penstock.model.trigger import Trigger
from penstock.model.window import Window
from penstock.schema.annotation import SchemaLike, schema_of
from penstock.schema.schema import Schema


@dataclass(frozen=True, slots=True, repr=False)
class Stream:
    """Rows that keep coming, and what is done with them."""

    program: Program
    relation: Relation

    @property
    def schema(self) -> Schema:
        """The columns of its rows."""
        return self.relation.schema

    @placed
    def filter(self, condition: Expression | Callable[[Row], Any]) -> Stream:
        """Keep the rows for which an expression, or a function of the row, is true."""
        return self._then(filtered(self.relation, condition))

    @placed
    def select(self, *columns: Subject, **named: Operand) -> Stream:
        """Keep these columns only, and new ones by name: `select("user", total=col("n") * 2)`."""
        return self._then(selected(self.relation, columns, named))

    @placed
    def with_columns(self, **named: Operand) -> Stream:
        """Add columns, or replace those that have the same name."""
        return self._then(extended(self.relation, named))

    @placed
    def drop(self, *columns: str) -> Stream:
        """Leave out columns."""
        return self._then(without(self.relation, columns))

    @placed
    def rename(self, names: Mapping[str, str] | None = None, /, **more: str) -> Stream:
        """Give columns other names: `rename(old="new")`."""
        return self._then(renamed(self.relation, {**(names or {}), **more}))

    @placed
    def map(self, function: Callable[[Row], Any], *, schema: SchemaLike | None = None) -> Stream:
        """Make one row of each: a dictionary or an object with the columns of `schema`.

        Without `schema` the function's return annotation says the columns. A row that makes
        the function raise becomes a dead letter, and the rest goes on.
        """
        gives = result_schema(function, schema)
        return self._then(applied(self.relation, function, "map", gives))

    @placed
    def flat_map(
        self, function: Callable[[Row], Iterable[Any]], *, schema: SchemaLike | None = None
    ) -> Stream:
        """Make any number of rows of each; what holds for `map` holds here."""
        gives = result_schema(function, schema, many=True)
        return self._then(applied(self.relation, function, "flat_map", gives))

    @placed
    def map_batches(
        self,
        function: Callable[[Any], Any],
        *,
        schema: SchemaLike | None = None,
        library: Literal["polars", "arrow"] = "polars",
    ) -> Stream:
        """Make a table of each table, polars or Arrow; without `schema` its columns stay.

        It has as many rows, in order, or else keeps the columns that begin with `_` with them.
        """
        if library not in ("polars", "arrow"):
            raise ModelError(
                "FUNCTION_LIBRARY",
                f'tables are asked for from "{library}"',
                hint='Give library="polars" or library="arrow".',
            )
        gives = self.schema if schema is None else schema_of(schema)
        return self._then(applied(self.relation, function, library, gives))

    @placed
    def union(self, *others: Stream) -> Stream:
        """Add the rows of other streams with the same columns."""
        if any(other.program is not self.program for other in others):
            raise ModelError(
                "PROGRAM_MIXED",
                "a union joins streams of two programs",
                hint="Make all its streams from one App.",
            )
        sources = (self.relation, *(other.relation for other in others))
        return self._then(Union(sources, user_site()))

    @placed
    def key_by(self, *columns: str) -> Stream:
        """Let these columns decide which partition a row is written to."""
        return self._then(Rekey(self.relation, columns, user_site()))

    @placed
    def with_event_time(self, column: str) -> Stream:
        """Let a column tell the event time of rows from here on."""
        return self._then(Restamp(self.relation, column, user_site()))

    @placed
    def expect(
        self,
        name: str,
        condition: Subject,
        *,
        otherwise: Literal["drop", "park", "fail"] = "park",
    ) -> Stream:
        """Say what rows are like; one that is not is dropped, parked, or ends the program."""
        if otherwise not in ("drop", "park", "fail"):
            raise ModelError(
                "EXPECT_POLICY",
                f'expectation "{name}" has the policy "{otherwise}"',
                hint='Give "drop", "park" or "fail".',
            )
        return self._then(
            Expect(self.relation, name, subject_of(condition), otherwise, user_site())
        )

    @placed
    def dedup(self, *keys: str, within: Duration | None = None) -> Stream:
        """Keep the first row of each key, or of each different row where none is given.

        `within` bounds the memory: a key counts as new again after so much event time.
        """
        chosen = keys or self.schema.names
        return self._then(Dedup(self.relation, chosen, maybe(within), user_site()))

    @placed
    def top_n(
        self, n: int, *, by: str, group: str | Sequence[str] = (), descending: bool = True
    ) -> Stream:
        """Keep the `n` best rows by a column, of all or of each group."""
        keys = (group,) if isinstance(group, str) else tuple(group)
        return self._then(TopN(self.relation, keys, by, n, descending, user_site()))

    @placed
    def group_by(self, *columns: str) -> Grouped:
        """Bring together the rows with the same values; without columns, all rows."""
        for column in columns:
            self.schema.field(column, role="group key", site=user_site())
        return Grouped(self.program, self.relation, columns)

    def window(self, window: Window) -> Windowed:
        """Say where in time all rows together are aggregated; see `group_by` for groups."""
        return self.group_by().window(window)

    def trigger(self, trigger: Trigger) -> Grouped:
        """Say when results of all rows together are given."""
        return self.group_by().trigger(trigger)

    def refine(self, refinement: Refinement) -> Grouped:
        """Say how results of all rows together relate."""
        return self.group_by().refine(refinement)

    def agg(self, **measures: Measure) -> Results:
        """Aggregate all rows together into a running result."""
        return self.group_by().agg(**measures)

    def count(self, name: str = "count") -> Results:
        """Count all rows together."""
        return self.group_by().count(name)

    def to_stream(self) -> Stream:
        """Give the updates of a result as rows, which is what they are."""
        return Stream(self.program, self.relation)

    @placed
    def to(
        self,
        topic: str,
        *,
        key: str | Sequence[str] | None = None,
        late: str | None = "",
        dead: str | None = "",
    ) -> Stream:
        """Write the rows to a topic, and give the stream for more steps.

        `key` decides the partition; without it what the rows were brought together by does.
        Rows too late and rows that failed go to `<topic>.late` and `<topic>.dead`, or to the
        topics given; None only counts them.
        """
        given = (key,) if isinstance(key, str) else key
        keys = keys_of(self.relation) if given is None else tuple(given)
        self.program.write(Sink(self.relation, topic, keys, late, dead, user_site()))
        return self

    def _then(self, relation: Relation) -> Stream:
        return Stream(self.program, relation)

    @override
    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.schema})"


@dataclass(frozen=True, slots=True, repr=False)
class Results(Stream):
    """The results of an aggregate: a stream of updates."""

    @placed
    def with_panes(self) -> Results:
        """Let results tell which pane they are: index, timing, first and last."""
        assert isinstance(self.relation, Aggregate)
        return Results(self.program, replace(self.relation, panes=True))

    @override
    @placed
    def window(self, window: Window) -> NoReturn:
        raise _too_late("window")

    @override
    @placed
    def trigger(self, trigger: Trigger) -> NoReturn:
        raise _too_late("trigger")

    @override
    @placed
    def refine(self, refinement: Refinement) -> NoReturn:
        raise _too_late("refine")


@dataclass(frozen=True, slots=True)
class Grouped:
    """Rows brought together, waiting to be told where, when, how and what."""

    program: Program
    source: Relation
    keys: tuple[str, ...]
    where: Window | None = None
    when: Trigger | None = None
    how: Refinement = DEFAULT_REFINEMENT
    panes: bool = False

    @placed
    def window(self, window: Window) -> Windowed:
        """Say where in time rows are aggregated."""
        _must_be(window, Window, "window", 'tumbling("1 minute")')
        return Windowed(
            self.program, self.source, self.keys, window, self.when, self.how, self.panes
        )

    @placed
    def trigger(self, trigger: Trigger) -> Self:
        """Say when results are given."""
        _must_be(trigger, Trigger, "trigger", 'every("10s")')
        return replace(self, when=trigger)

    @placed
    def refine(self, refinement: Refinement) -> Self:
        """Say how the results of one group and window relate."""
        _must_be(refinement, Refinement, "refine", "retracting()")
        return replace(self, how=refinement)

    def with_panes(self) -> Self:
        """Let results tell which pane they are: index, timing, first and last."""
        return replace(self, panes=True)

    @placed
    def agg(self, **measures: Measure) -> Results:
        """Say what is computed, a column each: `agg(views=count(), people=...)`."""
        for name, measure in measures.items():
            _must_be(measure, Measure, f"agg {name}=", 'sum("price")')
        if self.where is None and self.how.keep_late is not None:
            raise ModelError(
                "REFINE_WINDOW",
                "late rows are to be kept for a window, and there is none",
                hint="Add .window(...), or leave out keep_late.",
            )
        named = tuple(replace(measure, name=name) for name, measure in measures.items())
        step = Aggregate(
            self.source,
            self.keys,
            named,
            self.where,
            self.when,
            self.how,
            self.panes,
            user_site(),
        )
        warn_of_loss(step)
        return Results(self.program, step)

    def count(self, name: str = "count") -> Results:
        """Count the rows of each group."""
        return self.agg(**{name: count_rows()})


@dataclass(frozen=True, slots=True)
class Windowed(Grouped):
    """Rows brought together by group and window."""

    @override
    @placed
    def window(self, window: Window) -> NoReturn:
        raise ModelError(
            "STEP_ORDER",
            "a second window is given for one aggregate",
            hint="Leave one out; results have windows of their own after .agg(...).group_by(...).",
        )


def _too_late(step: str) -> ModelError:
    return ModelError(
        "STEP_ORDER",
        f"{step} comes after agg",
        hint=f"Write .{step}(...) before .agg(...), or .group_by(...) first for these results.",
    )


def _must_be(value: object, kind: type | UnionType, step: str, example: str) -> None:
    if not isinstance(value, kind):
        raise ModelError(
            "STEP_ARGUMENT",
            f"{step} is given {value!r}",
            hint=f"Give it a value such as {example}.",
        )
