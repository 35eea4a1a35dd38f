"""FROM: one source, or several that are joined."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

from penstock.errors import SqlError
from penstock.front.sql.catalog import Catalog
from penstock.front.sql.join.bound import bounded, graces
from penstock.front.sql.join.condition import sides_of
from penstock.front.sql.join.side import ROW_KEY, Side, qualified
from penstock.front.sql.join.static_file import is_static, joined_file
from penstock.front.sql.join.streams import joined_streams
from penstock.front.sql.join.tables import TableKey, joined_tables
from penstock.front.sql.match.clause import matched_rows
from penstock.front.sql.reading import Rows, read_source
from penstock.front.sql.scope import Scope, ScopeColumn
from penstock.front.sql.side_stream import read_side
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.tree_query import Aliased, Join, Matched, Relation, Source
from penstock.front.sql.typed_format import is_typed
from penstock.front.sql.typed_rows import read_typed
from penstock.front.sql.versions import VERSIONS, versions_of
from penstock.model.join import How
from penstock.model.join_bound import Whole

Derive: TypeAlias = Callable[[Relation, timedelta], Rows | None]
_NONE = timedelta(0)


def read_relation(
    relation: Relation, catalog: Catalog, text: SourceText, derive: Derive | None = None
) -> Rows:
    """Give the rows of FROM; `derive` gives those of what is no source of the catalog."""
    delay = max(graces(relation), default=_NONE)
    return _Reading(catalog, text, delay, derive).read(relation)


@dataclass(frozen=True, slots=True)
class _Reading:
    catalog: Catalog
    text: SourceText
    delay: timedelta
    derive: Derive | None = None

    def read(self, relation: Relation) -> Rows:
        derived = None if self.derive is None else self.derive(relation, self.delay)
        if derived is not None:
            return derived
        match relation:
            case Source(name):
                return self._source(relation, name.text)
            case Aliased(Source() as source, alias):
                return self._source(source, alias.text)
            case Join():
                return self._join(relation)
            case Matched(inner, match):
                return matched_rows(self.read(inner), match, None, self.catalog, self.text)
            case Aliased(Matched(inner, match), alias):
                return matched_rows(self.read(inner), match, alias.text, self.catalog, self.text)
            case _:
                raise SqlError(
                    "SQL_UNSUPPORTED", self.text.shown("this FROM cannot be run yet", relation.span)
                )

    def _source(self, source: Source, alias: str) -> Rows:
        if source.part is not None and source.part.text != VERSIONS:
            return read_side(source, alias, self.catalog, self.text)
        found = self.catalog.source(source.name, self.text)
        read = read_typed if is_typed(found) else read_source
        rows = read(found, alias, self.text, self.delay)
        return rows if source.part is None else versions_of(rows, source.part, self.text)

    def _join(self, join: Join) -> Rows:
        left, right = (qualified(self.read(side)) for side in (join.left, join.right))
        if set(left.scope.sources) & set(right.scope.sources):
            raise SqlError(
                "SQL_JOIN",
                self.text.shown("a source is joined twice by one name", join.span),
                hint="Give it an alias.",
            )
        compared = sides_of(join.on, left, right, self.catalog, self.text)
        if is_static(join, left):
            return joined_file(join, compared, self.text)
        one, other = compared.one, compared.other
        self._windows(join, left, right)
        bound = bounded(join, compared, self.text)
        made = self._made(join, one, other, keeps_key=bound.foreign)
        if isinstance(bound.bound, Whole):
            key = TableKey(made.key, made.alike, bound.foreign)
            relation = joined_tables(one, other, join.how, key)
        else:
            relation = joined_streams(one, other, join.how, bound)
        sources = (*left.sources, *right.sources)
        scope = Scope(made.columns, self.text)
        return Rows(relation, scope, made.key, sources, left.table, left.window, alike=made.alike)

    def _windows(self, join: Join, left: Rows, right: Rows) -> None:
        """Refuse to compare keys in windows with others: they could not be equal."""
        if left.window is None and right.window is None:
            return
        kinds = {None if rows.window is None else rows.window.kind for rows in (left, right)}
        if None in kinds:
            raise SqlError(
                "SQL_JOIN",
                self.text.shown("keys in windows are joined with keys that are in none", join.span),
                hint="Let both have windows, or none.",
            )
        if "session" in kinds and len(kinds) > 1:
            raise SqlError(
                "SQL_JOIN",
                self.text.shown(
                    "keys in sessions are joined with keys in other windows", join.span
                ),
                hint="Sessions have no windows in common with others: group both alike.",
            )

    def _made(self, join: Join, one: Side, other: Side, *, keeps_key: bool) -> _Made:
        if join.how in ("semi", "anti"):
            return _Made(one.rows.scope.columns, one.rows.key, one.rows.alike)
        if len(one.on) > 1 and not keeps_key:
            return self._of_several(join, one, other)
        return _joined(one, other, join.how, keeps_key=keeps_key)

    def _of_several(self, join: Join, one: Side, other: Side) -> _Made:
        """Give what a join by several columns makes: those of a side that is always there."""
        side = other if join.how == "right" else one
        key = tuple(held for held in side.held if held is not None)
        if join.how == "full" or len(key) < len(side.held):
            raise SqlError(
                "SQL_UNSUPPORTED",
                self.text.shown(
                    "the result would have a key of several unnamed parts", join.on.span
                ),
                hint="Compare columns, in a join that is not FULL; or one STRUCT with another.",
            )
        columns = (*one.rows.scope.columns, *other.rows.scope.columns)
        return _Made(tuple(column for column in columns if column.held != ROW_KEY), key)


@dataclass(frozen=True, slots=True)
class _Made:
    """What a join gives: its columns, and which of them are its key."""

    columns: tuple[ScopeColumn, ...]
    key: tuple[str, ...]
    alike: tuple[str, ...] = ()


def _joined(one: Side, other: Side, how: How, *, keeps_key: bool) -> _Made:
    if keeps_key:
        columns = (*one.rows.scope.columns, *other.rows.scope.columns)
        return _Made(columns, one.rows.key, one.rows.alike)
    left = tuple(column for column in one.rows.scope.columns if column.held != ROW_KEY)
    columns = (*left, *other.rows.scope.columns)
    found = (one.alone, *_same(one), other.alone, *_same(other))
    alike = tuple(dict.fromkeys(held for held in found if held and held != ROW_KEY))
    if how != "full" and alike and one.alone != ROW_KEY:
        return _Made(columns, (ROW_KEY,), alike)
    key_type = one.on[0].type
    assert key_type is not None
    whole = ScopeColumn("", ROW_KEY, ROW_KEY, key_type, key=True)
    return _Made((whole, *columns), (ROW_KEY,))


def _same(side: Side) -> tuple[str, ...]:
    """Give the columns that hold the same as the one compared."""
    return side.rows.alike if side.alone in side.rows.alike else ()
