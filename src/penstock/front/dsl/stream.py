"""Streams as the user builds them: each step gives a new one, and the old one stays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import UnionType
from typing import NoReturn, Self

from typing_extensions import override

from penstock.errors import ModelError
from penstock.front.dsl.aggregates import count as count_rows
from penstock.front.dsl.expression import Expression
from penstock.front.dsl.hazard import warn_of_loss
from penstock.front.dsl.joins import (
    JoinWords,
    On,
    When,
    Within,
    joined,
    lookup_bound,
    stream_bound,
)
from penstock.front.dsl.keyed import keys_of
from penstock.front.dsl.place import placed
from penstock.front.dsl.program import Program
from penstock.front.dsl.rows import Rows
from penstock.front.dsl.watermarks import maybe
from penstock.model.aggregate import Aggregate
from penstock.model.dedup import Dedup
from penstock.model.duration import Duration
from penstock.model.join import How
from penstock.model.join_bound import Whole
from penstock.model.latest import Latest, Order
from penstock.model.measure import Measure
from penstock.model.plan import Sink
from penstock.model.refine import DEFAULT_REFINEMENT, Refinement
from penstock.model.relation import Relation
from penstock.model.site import user_site
from penstock.model.stateless import Union, Updates
from penstock.model.table_key import table_key
from penstock.model.top_n import TopN
from penstock.model.trigger import Trigger
from penstock.model.window import Window


@dataclass(frozen=True, slots=True, repr=False)
class Stream(Rows["Stream"]):
    """Rows that keep coming, and what is done with them."""

    @placed
    def union(self, *others: Stream) -> Stream:
        """Add the rows of other streams with the same columns."""
        for other in others:
            _same_program(self.program, other.program)
        sources = (self.relation, *(other.relation for other in others))
        return self._then(Union(sources, user_site()))

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

    @placed
    def join(  # noqa: PLR0913  # all that one may say about a join
        self,
        other: Stream | Table,
        *,
        on: On,
        how: How = "inner",
        within: Within | None = None,
        window: Window | None = None,
        as_of: When = "arrival",
        wait: bool = False,
        corrected: bool = False,
        keep: Duration | None = None,
        eager: bool = False,
        suffix: str = "_right",
        where: Expression | None = None,
    ) -> Stream:
        """Bring together rows with the same values `on` columns.

        Rows of two streams meet `within` a time of each other, or `(before, after)` the left
        row, or in one `window`. A row looks a table up `as_of` its "arrival" or its "event
        time": there `wait` answers it once the table is complete up to it, `corrected` at once
        and again where an earlier version comes, which are kept `keep` long. With `eager` a row
        comes out alone until a partner comes. `where` is a further condition on the result, and
        a right column whose name is taken gets the `suffix`.
        """
        words = JoinWords(on, how, eager, suffix, where)
        _same_program(self.program, other.program)
        if isinstance(other, Table):
            bound = lookup_bound(as_of, wait=wait, corrected=corrected, keep=keep)
        else:
            bound = stream_bound(within, window)
        return self._then(joined(self.relation, other.relation, bound, words))

    @placed
    def to_table(self, key: str | Sequence[str] = (), *, order: Order = "arrival") -> Table:
        """Keep the latest row of each key: the last that came, or the latest by event time."""
        keys = (key,) if isinstance(key, str) else tuple(key)
        known = table_key(self.relation)
        if known is not None and (not keys or set(keys) == set(known)):
            return Table(self.program, self.relation)
        return Table(
            self.program,
            Latest(self.relation, keys or keys_of(self.relation), order, user_site()),
        )

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

    @override
    def _then(self, relation: Relation) -> Stream:
        return Stream(self.program, relation)


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


@dataclass(frozen=True, slots=True, repr=False)
class Table(Rows["Table"]):
    """One row a key, kept up to date: a change takes the old row back and gives the new one."""

    @property
    def key(self) -> tuple[str, ...]:
        """The columns that tell its rows apart."""
        return table_key(self.relation) or ()

    @placed
    def join(
        self,
        other: Table,
        *,
        on: On,
        how: How = "inner",
        suffix: str = "_right",
        where: Expression | None = None,
    ) -> Table:
        """Bring together the rows of two tables, by their keys or by any other columns."""
        _same_program(self.program, other.program)
        if not isinstance(other, Table):
            raise ModelError(
                "JOIN_SIDES",
                "a table is joined with a stream",
                hint="Join the stream with the table, or make the stream one with .to_table(...).",
            )
        words = JoinWords(on, how, suffix=suffix, where=where)
        return Table(self.program, joined(self.relation, other.relation, Whole(), words))

    @placed
    def group_by(self, *columns: str) -> Grouped:
        """Bring together its rows; results take back what they said of rows that changed."""
        grouped = self.changes().group_by(*columns)
        return replace(grouped, how=Refinement("retracting"))

    def agg(self, **measures: Measure) -> Results:
        """Aggregate all its rows together into a running result."""
        return self.group_by().agg(**measures)

    def count(self, name: str = "count") -> Results:
        """Count all its rows together."""
        return self.group_by().count(name)

    def changes(self) -> Stream:
        """Give its changes as a stream: each row with a weight, -1 where it is taken back."""
        return Stream(self.program, self.relation)

    @placed
    def to_stream(self) -> Stream:
        """Give its new rows as a stream of their own; that old ones go is left out."""
        return Stream(self.program, Updates(self.relation, user_site()))

    @placed
    def to(
        self,
        topic: str,
        *,
        late: str | None = "",
        dead: str | None = "",
        changes: bool = False,
    ) -> Table:
        """Write it to a compacted topic: the new row of a key, or a tombstone where it is gone.

        With `changes` every change is written instead, with its weight.
        """
        sink = Sink(self.relation, topic, self.key, late, dead, user_site(), upsert=not changes)
        self.program.write(sink)
        return self

    @override
    def _then(self, relation: Relation) -> Table:
        if table_key(relation) is None:
            raise ModelError(
                "TABLE_KEY",
                f"the key ({', '.join(self.key)}) of a table is not left",
                hint="Keep its columns, or go on with .changes(), a stream.",
            )
        return Table(self.program, relation)


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


def _same_program(one: Program, other: Program) -> None:
    if one is not other:
        raise ModelError(
            "PROGRAM_MIXED",
            "streams of two programs are brought together",
            hint="Make all of them from one App.",
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
