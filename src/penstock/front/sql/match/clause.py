"""MATCH_RECOGNIZE: sequences of rows of a stream that follow a pattern, as rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from penstock.errors import ModelError, SchemaError, SqlError, did_you_mean
from penstock.front.sql.catalog import Catalog
from penstock.front.sql.derived import derived_rows
from penstock.front.sql.expression import Resolver, name_of
from penstock.front.sql.functions.typed import as_type
from penstock.front.sql.keying import stream_rows
from penstock.front.sql.match.condition import of_whole_match
from penstock.front.sql.match.shape import PatternShape
from penstock.front.sql.match.value import PatternScope, PatternValues
from penstock.front.sql.reading import Rows
from penstock.front.sql.scope import ScopeColumn
from penstock.front.sql.sink import Result
from penstock.front.sql.source import ROW_TIME, SourceColumn
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.tree import Span
from penstock.front.sql.tree_expression import Column as ColumnNode
from penstock.front.sql.tree_expression import SortItem
from penstock.front.sql.tree_pattern import (
    MatchClause,
    PatternNot,
    PatternPart,
    PatternVariable,
)
from penstock.front.sql.walk import nodes_of
from penstock.model.expr import Column, Expr
from penstock.model.match import PAST_LAST_ROW, Match, Skip
from penstock.model.pattern import Pattern
from penstock.model.relation import Relation
from penstock.model.stateless import Named, Project
from penstock.schema.types import STRING


def matched_rows(
    rows: Rows, clause: MatchClause, alias: str | None, catalog: Catalog, text: SourceText
) -> Rows:
    """Give the matches of a pattern in the rows of a stream, under a name."""
    if rows.table:
        raise SqlError(
            "SQL_PATTERN",
            text.shown("a pattern is looked for in a table, whose rows change", clause.span),
            hint="Look for it in a stream.",
        )
    result = _Matching(stream_rows(rows), clause, catalog, text).result()
    return derived_rows(result, alias or rows.scope.sources[0], text)


@dataclass(frozen=True, slots=True)
class _Matching:
    rows: Rows
    clause: MatchClause
    catalog: Catalog
    text: SourceText

    def result(self) -> Result:
        self._check_order()
        keys = self._keys()
        source = self._source(keys)
        variables = _variables(self.clause.pattern)
        scope = PatternScope(self.rows.scope.columns, self.text, variables)
        values = PatternValues(scope, source.schema, self.catalog.types)
        shape = PatternShape(self._conditions(values, variables), values, self.text)
        names = tuple(key.name for key in keys)
        match = self._match(source, names, shape, self._measures(values))
        columns = self._columns(match, names)
        return Result(match, columns, self.rows, table=False)

    def _match(
        self,
        source: Relation,
        keys: tuple[str, ...],
        shape: PatternShape,
        measures: tuple[Named, ...],
    ) -> Match:
        said = self.clause
        within = None if said.within is None else said.within.delta
        try:
            pattern = Pattern(shape.part(said.pattern), within)
            return Match(
                source, keys, pattern, measures, self._skip(), said.rows, "MATCH_RECOGNIZE"
            )
        except (ModelError, SchemaError) as error:
            raise self._refused(
                error.fact.replace(" (MATCH_RECOGNIZE)", "").replace(" (PATTERN)", ""),
                said.span if error.code in _OF_RESULTS else said.pattern.span,
                _HINTS.get(error.code, error.hint),
            ) from error

    def _keys(self) -> list[Named]:
        """Give the columns that rows are parted by, each with a name."""
        resolver = Resolver(self.rows.scope, self.catalog.types)
        found: list[Named] = []
        for place, said in enumerate(self.clause.partition_by):
            own = name_of(said)
            name = f"KSQL_COL_{place}" if own is None else own.text
            found.append(Named(name, resolver.typed(said).expr))
        return found

    def _source(self, keys: list[Named]) -> Relation:
        """Give the rows with the columns that a pattern may ask for."""
        names = {column.held: Named(column.held, Column(column.held)) for column in self._shown}
        names |= {key.name: key for key in keys}
        names[ROW_TIME] = Named(ROW_TIME, Column(ROW_TIME))
        return Project(self.rows.relation, tuple(names.values()), "MATCH_RECOGNIZE")

    @property
    def _shown(self) -> tuple[ScopeColumn, ...]:
        asked = {node.name.text for node in nodes_of(self.clause) if isinstance(node, ColumnNode)}
        return tuple(
            column
            for column in self.rows.scope.columns
            if not column.system or column.name in asked
        )

    def _check_order(self) -> None:
        """Refuse any order but that of event time."""
        times = {
            ROW_TIME,
            *(item.event_time.column for item in self.rows.sources if item.event_time),
        }
        items = self.clause.order_by
        if not items or (len(items) == 1 and _by_time(items[0], times)):
            return
        raise self._refused(
            "rows of a pattern stand in the order of their event time",
            items[0].span,
            f"Write ORDER BY {' or '.join(sorted(times))}, or leave it out.",
        )

    def _conditions(self, values: PatternValues, variables: tuple[str, ...]) -> Mapping[str, Expr]:
        found: dict[str, Expr] = {}
        for said in self.clause.definitions:
            name = said.name.text
            if name in found:
                raise self._refused(
                    f'variable "{name}" is defined twice', said.span, "Join both by AND."
                )
            if name not in variables:
                raise self._refused(
                    f'"{name}" is defined and no variable of the pattern',
                    said.name.span,
                    did_you_mean(name, variables) or f"Its variables: {', '.join(variables)}.",
                )
            found[name] = values.condition(said.condition, name)
        return found

    def _measures(self, values: PatternValues) -> tuple[Named, ...]:
        made = []
        for said in self.clause.measures:
            typed = values.measure(said.expression)
            expr = as_type(typed, typed.type or STRING)
            whole = said.final and self.clause.rows == "all"
            made.append(Named(said.name.text, of_whole_match(expr) if whole else expr))
        return tuple(made)

    def _skip(self) -> Skip:
        said = self.clause.skip
        if said is None:
            return PAST_LAST_ROW
        return Skip(said.to, "" if said.variable is None else said.variable.text)

    def _columns(self, match: Match, keys: tuple[str, ...]) -> tuple[SourceColumn, ...]:
        """Give the columns of the result: the key first, no column of the system's."""
        system = {column.held for column in self.rows.scope.columns if column.system}
        system -= {said.name.text for said in self.clause.measures}
        fields = [field for field in match.schema.fields if field.name not in system]
        known = {field.name: field for field in match.schema.fields}
        return (
            *(SourceColumn(name, known[name].type, "key") for name in keys),
            *(SourceColumn(field.name, field.type) for field in fields if field.name not in keys),
        )

    def _refused(self, fact: str, span: Span, hint: str) -> SqlError:
        return SqlError("SQL_PATTERN", self.text.shown(fact, span), hint=hint)


def _variables(pattern: PatternPart) -> tuple[str, ...]:
    found: Iterator[str] = (
        node.name.text
        for node in nodes_of(pattern)
        if isinstance(node, PatternVariable | PatternNot)
    )
    return tuple(dict.fromkeys(found))


def _by_time(item: SortItem, times: set[str]) -> bool:
    named = isinstance(item.expression, ColumnNode) and item.expression.name.text in times
    return named and not item.descending


_OF_RESULTS = ("PATTERN_EMIT", "COLUMN_TWICE")
_HINTS: Mapping[str, str] = {
    "PATTERN_EMPTY": "Let one variable at least be there once: a+ instead of a*.",
    "PATTERN_NEGATION": "Go on with an arrow, as in a -> NOT b -> c; or let it be the last of the"
    " whole pattern, and add WITHIN 10 MINUTES after the pattern.",
    "PATTERN_EMIT": "Add PARTITION BY, or MEASURES COUNT(*) AS n.",
    "PATTERN_ORDER": "Put the arrow between two variables.",
    "PATTERN_FUNCTION": "Compute it in a query before the pattern, and compare that column.",
}
