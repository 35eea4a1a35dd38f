"""Streams as the user builds them: each step gives a new one, and the old one stays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import NoReturn

from typing_extensions import override

from penstock.errors import ModelError
from penstock.front.dsl.aggregates import count as count_rows
from penstock.front.dsl.expression import Expression, Operand
from penstock.front.dsl.formats import FormatLike, written_as
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
from penstock.front.dsl.patterns import PatternPart, match_step
from penstock.front.dsl.place import placed
from penstock.front.dsl.processes import main_output, side_output
from penstock.front.dsl.processing import Processing
from penstock.front.dsl.questions import Questions
from penstock.front.dsl.refusals import must_be, same_program, too_late
from penstock.front.dsl.rows import Rows
from penstock.front.dsl.watermarks import maybe
from penstock.model.aggregate import Aggregate
from penstock.model.dedup import Dedup
from penstock.model.duration import Duration
from penstock.model.join import How
from penstock.model.join_bound import Whole
from penstock.model.latest import Latest, Order
from penstock.model.match import PAST_LAST_ROW, Skip
from penstock.model.match import Rows as MatchRows
from penstock.model.measure import Measure
from penstock.model.pattern import Pattern
from penstock.model.plan import Sink
from penstock.model.process import Process
from penstock.model.refine import Refinement
from penstock.model.relation import Relation
from penstock.model.site import user_site
from penstock.model.stateless import Union, Updates
from penstock.model.table_key import table_key
from penstock.model.top_n import TopN
from penstock.model.trigger import Trigger
from penstock.model.versions import Versions
from penstock.model.window import Window


@dataclass(frozen=True, slots=True, repr=False)
class Stream(Rows["Stream"]):
    """Rows that keep coming, and what is done with them."""

    @placed
    def union(self, *others: Stream) -> Stream:
        """Add the rows of other streams with the same columns."""
        for other in others:
            same_program(self.program, other.program)
        sources = (self.relation, *(other.relation for other in others))
        return self._then(Union(sources, user_site()))

    @placed
    def then(
        self, live: Stream, *, key: str | Sequence[str], overlap: Duration | None = None
    ) -> Stream:
        """Go on with a live stream after this history; what both have is taken once, by its key.

        `overlap` bounds the memory: how far apart in event time the copies of a row may lie.
        """
        keys = (key,) if isinstance(key, str) else tuple(key)
        return self.union(live).dedup(*keys, within=overlap)

    @placed
    def dedup(self, *keys: str, within: Duration | None = None) -> Stream:
        """Keep the first row of each key, or of each different row where none is given.

        `within` bounds the memory: a key counts as new again after so much event time.
        """
        chosen = keys or self.schema.names
        return self._then(Dedup(self.relation, chosen, maybe(within), user_site()))

    @placed
    def top_n(
        self,
        n: int,
        *,
        by: str,
        group: str | Sequence[str] = (),
        descending: bool = True,
        place: str | None = None,
    ) -> Stream:
        """Keep the `n` best rows by a column, of all or of each group.

        `place` names a column that tells which is the first, the second, and so on.
        """
        keys = (group,) if isinstance(group, str) else tuple(group)
        made = TopN(self.relation, keys, by, n, descending, user_site(), number=place)
        return self._then(made)

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
        keep_late: Duration | None = None,
        until: str | None = None,
    ) -> Stream:
        """Bring together rows with the same values `on` columns.

        Rows of two streams meet `within` a time of each other, or `(before, after)` the left
        row, or in one `window`, or from the time of the left row `until` that in a column of it.
        A row looks a table up `as_of` its "arrival" or its "event time": there `wait` answers it
        once the table is complete up to it, `corrected` at once and again where an earlier
        version comes, which are kept `keep` long. With `eager` a row comes out alone until a
        partner comes; rows may come `keep_late`, and then correct what was given. `where` is a
        further condition on the result; a right column whose name is taken gets the `suffix`.
        """
        words = JoinWords(on, how, eager, suffix, where, keep_late)
        same_program(self.program, other.program)
        if isinstance(other, Table):
            bound = lookup_bound(as_of, wait=wait, corrected=corrected, keep=keep)
        else:
            bound = stream_bound(within, window, until)
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
        format: FormatLike | None = None,  # noqa: A002  # our word for it
        key_format: FormatLike | None = None,
        late: str | None = "",
        dead: str | None = "",
    ) -> Stream:
        """Write the rows to a topic, and give the stream for more steps.

        `key` decides the partition; without it what the rows were brought together by does.
        With `format` records are bytes, as any client reads them. Rows too late and rows that
        failed go to `<topic>.late` and `<topic>.dead`, or to the topics given; None only counts
        them.
        """
        given = (key,) if isinstance(key, str) else key
        keys = keys_of(self.relation) if given is None else tuple(given)
        sink = Sink(self.relation, topic, keys, late, dead, user_site())
        self.program.write(written_as(sink, format, key_format))
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
        raise too_late("window")

    @override
    @placed
    def trigger(self, trigger: Trigger) -> NoReturn:
        raise too_late("trigger")

    @override
    @placed
    def refine(self, refinement: Refinement) -> NoReturn:
        raise too_late("refine")


@dataclass(frozen=True, slots=True, repr=False)
class Processed(Stream):
    """The results of a process; those beside them by name."""

    step: Process

    @placed
    def side(self, name: str) -> Stream:
        """Give the rows of a side output."""
        return self._then(side_output(self.step, name))


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
        same_program(self.program, other.program)
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
    def versions(self, *, keep: Duration | None = None) -> Table:
        """Give every row with the time it is valid from and to; old ones are kept so long."""
        kept = maybe(keep) or timedelta(0)
        return Table(self.program, Versions(self.relation, self.key, kept, user_site()))

    @placed
    def to_stream(self) -> Stream:
        """Give its new rows as a stream of their own; that old ones go is left out."""
        return Stream(self.program, Updates(self.relation, user_site()))

    @placed
    def to(
        self,
        topic: str,
        *,
        format: FormatLike | None = None,  # noqa: A002  # our word for it
        key_format: FormatLike | None = None,
        late: str | None = "",
        dead: str | None = "",
        changes: bool = False,
    ) -> Table:
        """Write it to a compacted topic: the new row of a key, or a tombstone where it is gone.

        With `changes` every change is written instead, with its weight.
        """
        sink = Sink(self.relation, topic, self.key, late, dead, user_site(), upsert=not changes)
        self.program.write(written_as(sink, format, key_format))
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
class Grouped(Questions, Processing[Processed]):
    """Rows brought together, waiting to be told where, when, how and what."""

    @placed
    def window(self, window: Window) -> Windowed:
        """Say where in time rows are aggregated."""
        must_be(window, Window, "window", 'tumbling("1 minute")')
        return Windowed(
            self.program, self.source, self.keys, window, self.when, self.how, self.panes
        )

    @placed
    def agg(self, **measures: Measure) -> Results:
        """Say what is computed, a column each: `agg(views=count(), people=...)`."""
        return Results(self.program, self._answered(measures))

    def count(self, name: str = "count") -> Results:
        """Count the rows of each group."""
        return self.agg(**{name: count_rows()})

    @placed
    def match(
        self,
        pattern: PatternPart | Pattern,
        emit: Mapping[str, Operand] | None = None,
        *,
        skip: Skip = PAST_LAST_ROW,
        rows: MatchRows = "one",
    ) -> Stream:
        """Find sequences of rows of each key that follow a pattern; give a row for each.

        `emit` names the columns of the result. Where the next match may begin is said by `skip`;
        with `rows` "all" every row of a match comes out.
        """
        if self.where is not None or self.when is not None:
            raise too_late("match")
        step = match_step((self.source, self.keys), pattern, emit, skip=skip, rows=rows)
        return Stream(self.program, step)

    @override
    def _processed(self, step: Process) -> Processed:
        return Processed(self.program, main_output(step), step)


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
