"""A session: statements carried out on the log and the catalog of a home, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from penstock.config import load_settings
from penstock.errors import SqlError
from penstock.front.sql import tree_statement as tree
from penstock.front.sql.asking import Asked
from penstock.front.sql.assertion import Expected
from penstock.front.sql.insert import Inserted
from penstock.front.sql.pull.tree import Pulled
from penstock.front.sql.statement import Outcome, Started
from penstock.front.sql.tree import Name
from penstock.log.open import open_log
from penstock.schema.home_schemas import HomeSchemas
from penstock.sql.answer import Answer, Told
from penstock.sql.asserting import Asserting
from penstock.sql.connector import no_connector
from penstock.sql.controlling import found_query
from penstock.sql.defining import DEFINING, Definer, Defining
from penstock.sql.definitions import Definitions, copied, with_settings
from penstock.sql.placing import placed_in
from penstock.sql.project import Step
from penstock.sql.query_place import forget_query
from penstock.sql.script import pieces_of, read_piece, script_text
from penstock.sql.setting import check_setting
from penstock.sql.showing import View, described, show

if TYPE_CHECKING:
    from penstock.sql.kept_tables import KeptTables
    from penstock.sql.running import Running

_DEEPEST = 16
_SETTLING = 3.0
"""Seconds that an answer waits for queries which run here to have read what there is."""


class SqlSession:
    """Carries out statements; with `here` the queries of the catalog run in this process.

    Without, they are only written down, and run by whoever runs the catalog's queries. Settings
    and variables are those of the session, all else is seen by every process. What evaluates
    rows is loaded by the first statement that needs it, since that takes longer than most.
    """

    def __init__(self, home: Path, *, here: bool = False) -> None:
        self._home = home
        self._here = here
        self._log = open_log(home)
        self._schemas = HomeSchemas(home.absolute(), load_settings().registry_url)
        self._definer = Definer(self._log, self._schemas)
        self._running: Running | None = None
        self._asserting = Asserting(self._log)
        self._depth = 0
        self._kept: KeptTables | None = None
        self.settings: dict[str, str] = {}
        self.variables: dict[str, str] = {}

    def run(self, text: str) -> Iterator[Answer]:
        """Carry out the statements of a text; the first that is refused ends it."""
        for piece in pieces_of(text):
            yield from self.execute(read_piece(piece, self.variables))

    def execute(self, statement: tree.Statement) -> Iterator[Answer]:
        """Carry out a statement; a script gives the answers of its own."""
        if isinstance(statement, tree.RunScript):
            yield from self._script(statement)
            return
        with placed_in(statement):
            yield from self._answers(statement)

    def _answers(self, statement: tree.Statement) -> Iterator[Answer]:
        if isinstance(statement, DEFINING):
            yield self._define(statement, self.effective_settings())
            return
        carry_out = _STATEMENTS.get(type(statement))
        if isinstance(statement, tree.CreateConnector):
            raise no_connector(statement)
        if carry_out is None:
            fact = "this statement cannot be run here"
            raise SqlError("SQL_UNSUPPORTED", statement.source.shown(fact, statement.span))
        yield carry_out(self, statement)

    def apply(self, steps: Sequence[Step]) -> Iterator[Told]:
        """Do what is to be done for a project."""
        for step in steps:
            settings = dict(step.settings)
            if step.does == "replace" and isinstance(step.statement, tree.CreateType):
                yield self._definer.replace_type(step.statement, settings)
            elif step.statement is not None:
                yield self._define(step.statement, settings)

    def replace_query(self, step: Step, query: str) -> Told:
        """Put a statement in the place of the one of its name, by a query with another id."""
        assert step.statement is not None
        return self._define(step.statement, dict(step.settings), query)

    def definitions(self) -> Definitions:
        """Give the catalog as it is."""
        return self._definer.definitions()

    def words(self) -> tuple[str, ...]:
        """Give the words that statements may have: keywords, names, columns, functions."""
        from penstock.sql.completion import known_words  # noqa: PLC0415  # all functions

        return known_words(self.definitions())

    def effective_settings(self) -> dict[str, str]:
        """Give the settings of all sessions, and over them those of this one."""
        return {**self.definitions().system_settings, **self.settings}

    def catch_up(self) -> None:
        """Let the queries that run here read all that there is."""
        # One that has failed here was told of, and must not fail every answer.
        failed = {} if self._running is None else self._running.failures()
        runnable = self.definitions().runnable if self._here else ()
        queries = [query for query in runnable if query.id not in failed]
        if not queries:
            return
        from penstock.sql.running import catch_up  # noqa: PLC0415  # the kernel

        catch_up(self._home, queries)
        if self._running is not None:
            self._running.settle(self._log, _SETTLING)

    def follow_queries(self) -> Mapping[str, BaseException]:
        """Let the queries run here from now on; give why some of them have ended."""
        if not self._here:
            return {}
        queries = self.definitions().runnable
        if self._running is None:
            if not queries:
                return {}
            from penstock.sql.running import Running  # noqa: PLC0415  # the kernel

            self._running = Running(self._home)
        self._running.follow(queries)
        return self._running.failures()

    def close(self) -> None:
        """End what runs here, and let go of the log."""
        if self._running is not None:
            self._running.stop()
        self._definer.close()
        self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def ask(self, statement: tree.QueryStatement) -> Answer:
        """Answer SELECT."""
        from penstock.sql.question import pull, push  # noqa: PLC0415  # the kernel

        asked = self.question(statement)
        if isinstance(asked, Pulled) or asked.pull:
            self.catch_up()
            return pull(asked, self._log, self._tables())
        self.follow_queries()
        return push(asked, self._log)

    def question(self, statement: tree.QueryStatement) -> Asked | Pulled:
        """Say what a SELECT means, without answering it."""
        asked = self._resolved(statement)
        assert isinstance(asked, Asked | Pulled)
        return asked

    def _tables(self) -> KeptTables:
        """Give the tables that questions were asked of before."""
        if self._kept is None:
            from penstock.sql.kept_tables import KeptTables  # noqa: PLC0415  # the kernel

            self._kept = KeptTables()
        return self._kept

    def insert(self, statement: tree.InsertValues) -> Answer:
        """Write rows."""
        from penstock.sql.records import insert  # noqa: PLC0415  # polars

        outcome = self._resolved(statement)
        assert isinstance(outcome, Inserted)
        count = insert(self._log, outcome)
        # Queries see rows in the order in which statements wrote them.
        self.catch_up()
        return Told(f"{count} {'row' if count == 1 else 'rows'} written to {outcome.source.name}")

    def show(self, statement: tree.Show) -> Answer:
        """List what there is."""
        return show(statement, self._view())

    def describe(self, statement: tree.Describe) -> Answer:
        """Tell all of one thing."""
        return described(statement, self._view())

    def print(self, statement: tree.Print) -> Answer:
        """Show the records of a topic."""
        from penstock.sql.printing import printed  # noqa: PLC0415  # polars

        self.catch_up()
        return printed(statement, self._log)

    def explain(self, statement: tree.Explain) -> Answer:
        """Say what a query means, and what is run."""
        from penstock.sql.explaining import (  # noqa: PLC0415  # the planner
            analyzed,
            answered,
            explained,
        )
        from penstock.sql.explaining_pull import explained_pull  # noqa: PLC0415  # the planner

        outcome = self._explainable(statement)
        if isinstance(outcome, Pulled):
            text = explained_pull(outcome)
            return Told(f"{text}\n\n{answered(outcome, self._log)}" if statement.analyze else text)
        if statement.analyze:
            return Told(analyzed(outcome.plan, outcome.reads, self._log))
        return Told(explained(outcome.plan))

    def _explainable(self, statement: tree.Explain) -> Started | Asked | Pulled:
        target = statement.target
        if isinstance(target, Name):
            return found_query(target, self.definitions(), statement.source)
        queries = tree.QueryStatement | tree.CreateAs | tree.InsertSelect
        outcome = self._resolved(target) if isinstance(target, queries) else None
        if isinstance(outcome, Started | Asked | Pulled):
            return outcome
        raise SqlError(
            "SQL_UNSUPPORTED",
            statement.source.shown("only a query can be explained", statement.span),
            hint="Give a SELECT, a CREATE ... AS SELECT, or the id of a query.",
        )

    def set(self, statement: tree.SetProperty) -> Answer:
        """Remember a setting for this session, or for all of them."""
        notes = check_setting(statement)
        if statement.system:
            told = self._definer.define(statement, {})
            return Told(told.words, notes)
        self.settings[statement.name] = statement.value
        return Told(f"{statement.name} set to {statement.value}", notes)

    def unset(self, statement: tree.UnsetProperty) -> Answer:
        """Forget a setting."""
        if self.settings.pop(statement.name, None) is None:
            return Told(f"{statement.name} was not set in this session")
        return Told(f"{statement.name} unset")

    def define(self, statement: tree.Define) -> Answer:
        """Remember a variable for this session."""
        self.variables[statement.name.text.upper()] = statement.value
        return Told(f"{statement.name.text} defined")

    def undefine(self, statement: tree.Undefine) -> Answer:
        """Forget a variable."""
        self.variables.pop(statement.name.text.upper(), None)
        return Told(f"{statement.name.text} undefined")

    def assert_source(self, statement: tree.AssertSource) -> Answer:
        """Refuse a source that is not as it is said to be."""
        self._resolved(statement)
        return Told(f"{statement.name.text} is as asserted")

    def assert_values(self, statement: tree.AssertValues) -> Answer:
        """Refuse where the next record of a source is not as it is said to be."""
        expected = self._resolved(statement)
        assert isinstance(expected, Expected)
        self.catch_up()
        return Told(self._asserting.values(expected))

    def assert_topic(self, statement: tree.AssertTopic) -> Answer:
        """Refuse where a topic is not there, or is though it must not be."""
        return Told(self._asserting.topic(statement))

    def assert_schema(self, statement: tree.AssertSchema) -> Answer:
        """Refuse where a schema is not registered, or is though it must not be."""
        from penstock.sql.registering import check_schema  # noqa: PLC0415  # Arrow

        return Told(check_schema(statement, self._schemas))

    def _define(self, statement: Defining, settings: Mapping[str, str], query: str = "") -> Told:
        before = set(self.definitions().queries)
        told = self._definer.define(statement, settings, query)
        after = self.definitions().queries
        for id_ in before - after.keys():
            if self._running is not None:
                self._running.follow(self.definitions().runnable)
            forget_query(self._home, id_)
        started = after.keys() - before
        return replace(told, notes=(*told.notes, *(self._runs(id_) for id_ in sorted(started))))

    def _runs(self, id_: str) -> str:
        """Tell what becomes of a new query."""
        if self._here:
            return f"{id_} runs here as long as this does; `penstock sql run` keeps it running"
        return f"`penstock sql run` runs {id_}, on Spark; `penstock sql run --here` without"

    def _script(self, statement: tree.RunScript) -> Iterator[Answer]:
        if self._depth == _DEEPEST:
            fact = f"scripts run one another more than {_DEEPEST} deep"
            raise SqlError("SQL_SCRIPT", statement.source.shown(fact, statement.span))
        text = script_text(statement.path)
        self._depth += 1
        try:
            yield from self.run(text)
        finally:
            self._depth -= 1

    def _resolved(self, statement: tree.Statement) -> Outcome:
        """Resolve a statement on a copy of the catalog, which stays as it is."""
        scratch = copied(self.definitions())
        with_settings(scratch.catalog, self.effective_settings())
        return scratch.session.execute(statement)

    def _view(self) -> View:
        return View(self._home, self.definitions(), self._log, self.settings, self.variables)


_CarryOut: TypeAlias = Callable[[SqlSession, Any], Answer]
_STATEMENTS: Mapping[type, _CarryOut] = {
    tree.QueryStatement: SqlSession.ask,
    tree.InsertValues: SqlSession.insert,
    tree.Show: SqlSession.show,
    tree.Describe: SqlSession.describe,
    tree.Print: SqlSession.print,
    tree.Explain: SqlSession.explain,
    tree.SetProperty: SqlSession.set,
    tree.UnsetProperty: SqlSession.unset,
    tree.Define: SqlSession.define,
    tree.Undefine: SqlSession.undefine,
    tree.AssertSource: SqlSession.assert_source,
    tree.AssertValues: SqlSession.assert_values,
    tree.AssertTopic: SqlSession.assert_topic,
    tree.AssertSchema: SqlSession.assert_schema,
}
