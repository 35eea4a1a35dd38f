"""Statements carried out: what each does to the catalog, and what is to be run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from penstock.errors import SqlError, did_you_mean
from penstock.front.sql import tree_statement as tree
from penstock.front.sql.alter import altered, check_replacement
from penstock.front.sql.asking import Asked, asked
from penstock.front.sql.assertion import Expected, check_source, expected
from penstock.front.sql.catalog import Catalog
from penstock.front.sql.create_function import created_function
from penstock.front.sql.emission_setting import RECORD, SETTING
from penstock.front.sql.functions.user_functions import known_functions
from penstock.front.sql.insert import Inserted, inserted
from penstock.front.sql.pull.tree import Pulled
from penstock.front.sql.query import resolved
from penstock.front.sql.schema_statement import created_source
from penstock.front.sql.sink import Result, Target, new_source, written
from penstock.front.sql.source import SqlSource
from penstock.front.sql.tree import Name
from penstock.front.sql.typed_format import is_typed
from penstock.front.sql.typed_sink import written_typed
from penstock.front.sql.types import sql_type
from penstock.model.plan import Plan


@dataclass(frozen=True, slots=True)
class Started:
    """A query that runs on and writes to a source."""

    id: str
    plan: Plan
    reads: tuple[SqlSource, ...]
    writes: SqlSource
    by_record: bool = False
    """Whether each record is to give its updates before the next one is read."""


@dataclass(frozen=True, slots=True)
class Done:
    """A statement that only changed what is known."""

    words: str


Outcome: TypeAlias = Started | Asked | Pulled | Inserted | Expected | Done


class Session:
    """Carries out statements, one after the other, with one catalog."""

    def __init__(self, catalog: Catalog | None = None) -> None:
        self.catalog = catalog or Catalog()
        self._queries = 0

    def execute(self, statement: tree.Statement) -> Outcome:
        """Carry out a statement; one that cannot be is refused and changes nothing."""
        carry_out = _STATEMENTS.get(type(statement))
        if carry_out is None:
            raise SqlError(
                "SQL_UNSUPPORTED", _shown(statement, "this statement cannot be run here")
            )
        with known_functions(self.catalog.functions):
            return carry_out(self, statement)

    def create_function(self, statement: tree.CreateFunction) -> Outcome:
        """Make a function known."""
        made = created_function(statement, self.catalog)
        if made.name in self.catalog.functions and not statement.or_replace:
            if statement.if_not_exists:
                return Done(f"function {made.name} exists already")
            raise SqlError(
                "SQL_FUNCTION_EXISTS",
                _shown(statement, f"function {made.name} exists already"),
                hint="Use CREATE OR REPLACE, IF NOT EXISTS, or another name.",
            )
        self.catalog.put_function(made)
        return Done(f"function {made.name} created")

    def drop_function(self, statement: tree.DropNamed) -> Outcome:
        """Forget a function."""
        name = statement.name.text.upper()
        if name in self.catalog.functions:
            self.catalog.drop_function(name)
            return Done(f"function {name} dropped")
        if statement.if_exists:
            return Done(f"function {name} does not exist")
        raise SqlError(
            "SQL_FUNCTION_MISSING",
            _shown(statement, f"there is no function {name} of yours"),
            hint=did_you_mean(name, self.catalog.functions) or "SHOW FUNCTIONS lists them.",
        )

    def create(self, statement: tree.CreateSource) -> Outcome:
        """Make a source known."""
        if self._there(statement):
            return Done(f"{statement.name.text} exists already")
        made = created_source(statement, self.catalog)
        old = self.catalog.get(made.name)
        check_replacement(old, made, statement.name, statement.source)
        self.catalog.put(made)
        return Done(f"{statement.kind} {statement.name.text} created")

    def create_as(self, statement: tree.CreateAs) -> Outcome:
        """Start a query that makes a source."""
        if self._there(statement):
            return Done(f"{statement.name.text} exists already")
        text = statement.source
        _unlimited(statement)
        result = resolved(statement.query, self.catalog, text, statement.kind)
        _same_kind(result, statement)
        target = Target(statement.name, statement.kind, statement.properties, text)
        made = new_source(result, target, self.catalog)
        check_replacement(self.catalog.get(made.name), made, statement.name, text)
        self.catalog.put(made)
        short = "CSAS" if statement.kind == "stream" else "CTAS"
        return self._started(f"{short}_{made.name}", result, made)

    def insert_select(self, statement: tree.InsertSelect) -> Outcome:
        """Start a query that writes to a source that is there."""
        text = statement.source
        target = self.catalog.source(statement.name, text)
        _unlimited(statement)
        result = resolved(statement.query, self.catalog, text, target.kind)
        _fits(result, target, statement)
        _ends(result, target, statement)
        return self._started(f"INSERTQUERY_{target.name}", result, target)

    def insert_values(self, statement: tree.InsertValues) -> Outcome:
        """Give the records of rows."""
        target = self.catalog.source(statement.name, statement.source)
        return inserted(statement, target, self.catalog)

    def ask(self, statement: tree.QueryStatement) -> Outcome:
        """Give the plan that answers a question."""
        return asked(statement.query, self.catalog, statement.source)

    def alter(self, statement: tree.AlterSource) -> Outcome:
        """Add columns to a source."""
        self.catalog.put(altered(statement, self.catalog))
        return Done(f"{statement.name.text} altered")

    def assert_source(self, statement: tree.AssertSource) -> Outcome:
        """Refuse a source that is not as it is said to be."""
        check_source(statement, self.catalog)
        return Done(f"{statement.name.text} is as asserted")

    def assert_values(self, statement: tree.AssertValues) -> Outcome:
        """Give what the next record of a source must be."""
        return expected(statement, self.catalog)

    def drop(self, statement: tree.DropSource) -> Outcome:
        """Forget a source that nothing reads."""
        if statement.if_exists and self.catalog.get(statement.name.text) is None:
            return Done(f"{statement.name.text} does not exist")
        found = self.catalog.source(statement.name, statement.source)
        readers = self.catalog.readers(found.name)
        if found.kind != statement.kind:
            raise SqlError(
                "SQL_SOURCE_KIND", _shown(statement, f'"{found.name}" is a {found.kind}')
            )
        if readers:
            raise SqlError(
                "SQL_SOURCE_READ",
                _shown(statement, f'"{found.name}" is read by {", ".join(readers)}'),
                hint=f"Drop or TERMINATE first what makes {', '.join(sorted(readers))}.",
            )
        self.catalog.drop(found.name)
        return Done(f"{found.name} dropped")

    def create_type(self, statement: tree.CreateType) -> Outcome:
        """Give a type a name."""
        name = statement.name.text
        if name in self.catalog.types and not statement.if_not_exists:
            raise SqlError("SQL_TYPE_EXISTS", _shown(statement, f'type "{name}" exists already'))
        if name not in self.catalog.types:
            found = sql_type(statement.type, self.catalog.types, statement.source)
            self.catalog.put_type(name, found)
        return Done(f"type {name} created")

    def drop_named(self, statement: tree.DropNamed) -> Outcome:
        """Forget a type or a function."""
        name = statement.name.text
        if statement.what == "function":
            return self.drop_function(statement)
        if statement.what != "type":
            raise SqlError(
                "SQL_UNSUPPORTED", _shown(statement, f"a {statement.what} cannot be dropped here")
            )
        if name in self.catalog.types:
            self.catalog.drop_type(name)
        elif not statement.if_exists:
            raise SqlError("SQL_TYPE", _shown(statement, f'type "{name}" does not exist'))
        return Done(f"type {name} dropped")

    def set(self, statement: tree.SetProperty) -> Outcome:
        """Remember a setting."""
        self.catalog.settings[statement.name] = statement.value
        return Done(f"{statement.name} set")

    def unset(self, statement: tree.UnsetProperty) -> Outcome:
        """Forget a setting."""
        self.catalog.settings.pop(statement.name, None)
        return Done(f"{statement.name} unset")

    def _there(self, statement: tree.CreateSource | tree.CreateAs) -> bool:
        """Whether a source need not be made, since it is there and may be."""
        found = self.catalog.get(statement.name.text)
        _replaceable(found, statement)
        if found is None or statement.or_replace:
            return False
        if statement.if_not_exists:
            return True
        raise SqlError(
            "SQL_SOURCE_EXISTS",
            statement.source.shown(
                f'{found.kind} "{found.name}" exists already', statement.name.span
            ),
            hint="Use CREATE OR REPLACE, IF NOT EXISTS, or another name.",
        )

    def _started(self, name: str, result: Result, target: SqlSource) -> Started:
        reads = tuple(source for source in result.rows.sources if not source.file)
        for source in reads:
            self.catalog.note_reader(source.part_of or source.name, target.name)
        query = f"{name}_{self._queries}"
        self._queries += 1
        by_record = self.catalog.setting(SETTING).lower() == RECORD
        write = written_typed if is_typed(target) else written
        return Started(query, write(result, target, query), reads, target, by_record)


def _replaceable(found: SqlSource | None, statement: tree.CreateSource | tree.CreateAs) -> None:
    """Refuse to replace what is only read, or by what is only read."""
    reads = isinstance(statement, tree.CreateSource) and statement.read_only
    if statement.or_replace and (reads or (found is not None and found.read_only)):
        raise SqlError(
            "SQL_REPLACE",
            _shown(statement, "a SOURCE is to be replaced"),
            hint="Drop it, and create it again.",
        )


def _same_kind(result: Result, statement: tree.CreateAs) -> None:
    made = "table" if result.table else "stream"
    if made != statement.kind:
        raise SqlError(
            "SQL_SOURCE_KIND",
            _shown(
                statement, f'the query of {statement.kind} "{statement.name.text}" gives a {made}'
            ),
            hint=f"Write CREATE {made.upper()} ... AS.",
        )


def _unlimited(statement: tree.CreateAs | tree.InsertSelect) -> None:
    if statement.query.limit is not None:
        raise SqlError(
            "SQL_LIMIT",
            _shown(statement, "a query that runs on has a LIMIT"),
            hint="Leave out LIMIT.",
        )


def _fits(result: Result, target: SqlSource, statement: tree.InsertSelect) -> None:
    if result.table or target.is_table:
        raise SqlError("SQL_INSERT", _shown(statement, "INSERT INTO is for streams only"))
    if target.read_only:
        raise SqlError("SQL_INSERT", _shown(statement, f'"{target.name}" is read only'))
    mine = {(c.name, c.type, c.role) for c in result.columns}
    others = {(c.name, c.type, c.role) for c in target.columns}
    if mine != others:
        raise SqlError(
            "SQL_INSERT",
            _shown(statement, f'the query does not give the columns of "{target.name}"'),
            hint="Select the same names and types, and the same key.",
        )
    if target.window is not None and result.window != target.window:
        raise SqlError(
            "SQL_INSERT",
            _shown(statement, f'the keys of "{target.name}" lie in other windows'),
            hint="Group by the same window, or read what is in it.",
        )


def _ends(result: Result, target: SqlSource, statement: tree.InsertSelect) -> None:
    """Refuse a query that would read for ever what it writes."""
    if target.topic in {source.topic for source in result.rows.sources}:
        raise SqlError(
            "SQL_INSERT",
            _shown(statement, f'the query reads "{target.name}", to which it writes'),
            hint="Write to another stream.",
        )


def _shown(statement: tree.Statement, fact: str) -> str:
    """Give a fact about a statement, with its name underlined."""
    name = getattr(statement, "name", None)
    span = name.span if isinstance(name, Name) else statement.span
    return statement.source.shown(fact, span)


_STATEMENTS: Mapping[type, Callable[[Session, Any], Outcome]] = {
    tree.CreateSource: Session.create,
    tree.CreateAs: Session.create_as,
    tree.InsertSelect: Session.insert_select,
    tree.InsertValues: Session.insert_values,
    tree.QueryStatement: Session.ask,
    tree.AlterSource: Session.alter,
    tree.AssertSource: Session.assert_source,
    tree.AssertValues: Session.assert_values,
    tree.DropSource: Session.drop,
    tree.CreateType: Session.create_type,
    tree.CreateFunction: Session.create_function,
    tree.DropNamed: Session.drop_named,
    tree.SetProperty: Session.set,
    tree.UnsetProperty: Session.unset,
    tree.Define: lambda _, __: Done("defined"),
    tree.Undefine: lambda _, __: Done("undefined"),
}
