"""What can be done with the rows of streams and tables alike: each step gives a new one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, Self, TypeVar

from typing_extensions import override

from penstock.errors import ModelError
from penstock.front.dsl.expression import Expression, Operand, Subject, subject_of
from penstock.front.dsl.joins import On
from penstock.front.dsl.persist import Persisted, StoreLike, persist
from penstock.front.dsl.place import placed
from penstock.front.dsl.program import Program
from penstock.front.dsl.static import StaticLike, enriched
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
from penstock.model.enrich import EnrichHow
from penstock.model.relation import Relation
from penstock.model.site import user_site
from penstock.model.stateless import Expect, Rekey, Restamp
from penstock.schema.annotation import SchemaLike, schema_of
from penstock.schema.schema import Schema

Derived = TypeVar("Derived")


@dataclass(frozen=True, slots=True, repr=False)
class Rows(ABC, Generic[Derived]):
    """Rows of a program, and the steps that look at one row alone."""

    program: Program
    relation: Relation

    @property
    def schema(self) -> Schema:
        """The columns of its rows."""
        return self.relation.schema

    @placed
    def filter(self, condition: Expression | Callable[[Row], Any]) -> Derived:
        """Keep the rows for which an expression, or a function of the row, is true."""
        return self._then(filtered(self.relation, condition))

    @placed
    def select(self, *columns: Subject, **named: Operand) -> Derived:
        """Keep these columns only, and new ones by name: `select("user", total=col("n") * 2)`."""
        return self._then(selected(self.relation, columns, named))

    @placed
    def with_columns(self, **named: Operand) -> Derived:
        """Add columns, or replace those that have the same name."""
        return self._then(extended(self.relation, named))

    @placed
    def drop(self, *columns: str) -> Derived:
        """Leave out columns."""
        return self._then(without(self.relation, columns))

    @placed
    def rename(self, names: Mapping[str, str] | None = None, /, **more: str) -> Derived:
        """Give columns other names: `rename(old="new")`."""
        return self._then(renamed(self.relation, {**(names or {}), **more}))

    @placed
    def map(self, function: Callable[[Row], Any], *, schema: SchemaLike | None = None) -> Derived:
        """Make one row of each: a dictionary or an object with the columns of `schema`.

        Without `schema` the function's return annotation says the columns. A row that makes
        the function raise becomes a dead letter, and the rest goes on.
        """
        gives = result_schema(function, schema)
        return self._then(applied(self.relation, function, "map", gives))

    @placed
    def flat_map(
        self, function: Callable[[Row], Iterable[Any]], *, schema: SchemaLike | None = None
    ) -> Derived:
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
    ) -> Derived:
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
    def key_by(self, *columns: str) -> Derived:
        """Let these columns decide which partition a row is written to."""
        return self._then(Rekey(self.relation, columns, user_site()))

    @placed
    def with_event_time(self, column: str) -> Derived:
        """Let a column tell the event time of rows from here on."""
        return self._then(Restamp(self.relation, column, user_site()))

    @placed
    def expect(
        self,
        name: str,
        condition: Subject,
        *,
        otherwise: Literal["drop", "park", "fail"] = "park",
    ) -> Derived:
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
    def enrich(
        self,
        table: StaticLike,
        *,
        on: On,
        how: EnrichHow = "inner",
        suffix: str = "_right",
    ) -> Derived:
        """Join with a table that does not change while the program runs; see `static`."""
        return self._then(enriched(self.relation, table, on, how, suffix))

    @placed
    def persist(
        self,
        store: StoreLike,
        name: str,
        *,
        key: str | Sequence[str] | None = None,
        late: str | None = "",
        dead: str | None = "",
    ) -> Self:
        """Keep the rows in a table of a store: a SQLite file, or `postgresql://...`.

        A batch is written once, however often it is done again. Rows of tables and running
        results are kept by their key, or by the `key` given; others are added.
        """
        words = Persisted(name=name, key=key, late=late, dead=dead)
        persist(self.program, self.relation, store, words)
        return self

    @abstractmethod
    def _then(self, relation: Relation) -> Derived:
        """Give the rows after a step."""

    @override
    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.schema})"
