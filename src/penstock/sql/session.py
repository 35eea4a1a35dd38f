"""A session: statements carried out on the log and the catalog of a home, one after the other."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeAlias

from penstock.errors import SqlError
from penstock.front.sql import tree_statement as tree
from penstock.front.sql.asking import Asked
from penstock.front.sql.assertion import Expected
from penstock.front.sql.insert import Inserted
from penstock.front.sql.statement import Outcome, Started
from penstock.front.sql.tree import Name
from penstock.log.open import open_log
from penstock.model.physical import Settings
from penstock.plan.explain import explain
from penstock.sql.answer import Answer, Told
from penstock.sql.defining import DEFINING, Definer, found_query
from penstock.sql.definitions import Definitions, replayed, with_settings
from penstock.sql.order import without_order
from penstock.sql.printing import printed
from penstock.sql.project import Step
from penstock.sql.question import pull, push
from penstock.sql.readable import readable
from penstock.sql.records import check_expected, insert
from penstock.sql.running import Running, catch_up
from penstock.sql.script import pieces_of, read_piece, script_text
from penstock.sql.showing import View, described, show

_DEEPEST = 16
_PAUSE = 0.05


class SqlSession:
    """Carries out statements; with `here` the queries of the catalog run in this process.

    Without, they are only written down, and run by whoever runs the catalog's queries. Settings
    and variables are those of the session, all else is seen by every process.
    """

    def __init__(self, home: Path, *, here: bool = False) -> None:
        self._home = home
        self._here = here
        self._log = open_log(home)
        self._definer = Definer(self._log)
        self._running = Running(home)
        self._asserted: dict[str, int] = {}
        self._depth = 0
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
        if isinstance(statement, DEFINING):
            yield self._definer.define(statement, self.settings)
            return
        carry_out = _STATEMENTS.get(type(statement))
        if carry_out is None:
            fact = "this statement cannot be run here"
            raise SqlError("SQL_UNSUPPORTED", statement.source.shown(fact, statement.span))
        yield carry_out(self, statement)

    def apply(self, steps: Sequence[Step]) -> Iterator[Told]:
        """Do what is to be done for a project."""
        for step in steps:
            if step.statement is not None:
                yield self._definer.define(step.statement, dict(step.settings))

    def definitions(self) -> Definitions:
        """Give the catalog as it is."""
        return self._definer.definitions()

    def catch_up(self) -> None:
        """Let the queries that run here read all that there is."""
        if self._here:
            catch_up(self._home, list(self.definitions().queries.values()))

    def follow_queries(self) -> Mapping[str, BaseException]:
        """Let the queries run here from now on; give why some of them have ended."""
        if self._here:
            self._running.follow(self.definitions().queries.values())
        return self._running.failures()

    def close(self) -> None:
        """End what runs here, and let go of the log."""
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
        plain, order = without_order(statement)
        asked = self._resolved(plain)
        assert isinstance(asked, Asked)
        _refuse_start(statement, pull=asked.pull)
        if asked.pull:
            self.catch_up()
            return pull(asked, self._log, order)
        self.follow_queries()
        return push(asked, self._log, from_beginning=self._from_beginning(statement))

    def insert(self, statement: tree.InsertValues) -> Answer:
        """Write rows."""
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
        self.catch_up()
        return printed(statement, self._log)

    def explain(self, statement: tree.Explain) -> Answer:
        """Say what a query means, and what is run."""
        target = statement.target
        if isinstance(target, Name):
            plan = found_query(target, self.definitions(), statement.source).plan
        else:
            outcome = self._resolved(target)
            if not isinstance(outcome, Started | Asked):
                fact = "only a query can be explained"
                raise SqlError(
                    "SQL_UNSUPPORTED",
                    statement.source.shown(fact, statement.span),
                    hint="Give a SELECT, a CREATE ... AS SELECT, or the id of a query.",
                )
            plan = outcome.plan
        return Told(explain(readable(plan), Settings(), "all"))

    def set(self, statement: tree.SetProperty) -> Answer:
        """Remember a setting for this session."""
        self.settings[statement.name] = statement.value
        return Told(f"{statement.name} set to {statement.value}")

    def unset(self, statement: tree.UnsetProperty) -> Answer:
        """Forget a setting."""
        self.settings.pop(statement.name, None)
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
        place = self._asserted.get(expected.source.name, 0)
        check_expected(self._log, expected, place)
        self._asserted[expected.source.name] = place + 1
        return Told(f"record {place} of {expected.source.name} is as asserted")

    def assert_topic(self, statement: tree.AssertTopic) -> Answer:
        """Refuse where a topic is not there, or is though it must not be."""
        patience = 0.0 if statement.timeout is None else statement.timeout.delta.total_seconds()
        deadline = time.monotonic() + patience
        while (statement.topic in self._log.topics()) != statement.exists:
            if time.monotonic() >= deadline:
                found = "does not exist" if statement.exists else "exists"
                fact = f'topic "{statement.topic}" {found}'
                raise SqlError("SQL_ASSERT", statement.source.shown(fact, statement.span))
            time.sleep(_PAUSE)
        wanted = {item.name.upper(): item.value for item in statement.properties}
        number = getattr(wanted.get("PARTITIONS"), "value", None)
        if statement.exists and number not in {None, self._log.topic(statement.topic).partitions}:
            fact = f'topic "{statement.topic}" has another number of partitions than {number}'
            raise SqlError("SQL_ASSERT", statement.source.shown(fact, statement.span))
        return Told(f"topic {statement.topic} is as asserted")

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
        scratch = replayed(self.definitions().entries)
        with_settings(scratch.catalog, self.settings)
        return scratch.session.execute(statement)

    def _view(self) -> View:
        return View(self.definitions(), self._log, self.settings, self.variables)

    def _from_beginning(self, statement: tree.QueryStatement) -> bool:
        start = statement.query.start
        if start is not None:
            return start.at == "beginning"
        return self.settings.get("auto.offset.reset", "latest").lower() == "earliest"


def _refuse_start(statement: tree.QueryStatement, *, pull: bool) -> None:
    """Refuse to begin where no query can yet; it must not begin elsewhere instead."""
    start = statement.query.start
    if start is None or start.at == "beginning" or (start.at == "latest" and not pull):
        return
    raise SqlError(
        "SQL_UNSUPPORTED",
        statement.source.shown("a query cannot begin there yet", start.span),
        hint="Begin FROM BEGINNING, or FROM LATEST with EMIT CHANGES.",
    )


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
}
