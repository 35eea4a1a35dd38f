"""A case run: its statements one by one, its records one at a time through each query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from penstock.errors import PenstockError
from penstock.front.sql.asking import ANSWER, Asked
from penstock.front.sql.catalog import Catalog
from penstock.front.sql.insert import Inserted
from penstock.front.sql.parse import parse_script
from penstock.front.sql.source import SqlSource
from penstock.front.sql.statement import Session, Started
from penstock.testing.driver import TestDriver
from tests.conformance.ksql_answer import Answer, wrong_answers
from tests.conformance.ksql_case import Case, Judge, Tree
from tests.conformance.ksql_codec import Sent, plain_tree, sent, told
from tests.conformance.ksql_driver import as_record, inserted_records, pushed
from tests.conformance.ksql_script import run_script
from tests.conformance.ksql_spark import fed_on_spark
from tests.conformance.runner import Engine

Batch = list[dict[str, Any]]
_MODES: Mapping[Engine, str] = {"driver": "exact", "spark": "collapsed"}


def verdict(case: Case, judge: Judge, engine: Engine = "driver") -> str:
    """Run a case; give what is wrong with it, which is nothing where it passes.

    In the driver every record is a batch, and results must come in order. On Spark all are one
    batch: streams must have the same records, and tables come to the same.
    """
    try:
        if case.tree["kind"] == "sql":
            wrong = run_script(case.tree)
            return "" if bool(wrong) == case.wrong else wrong or _unrefused(case)
        stage = Stage(case.tree, engine)
        stage.run()
    except PenstockError as error:
        return "" if case.wrong else f"{type(error).__name__} {error}"
    if case.wrong:
        return _unrefused(case)
    complaints = judge(case.tree, stage.batches, _MODES[engine], "strict")
    return "; ".join([*complaints, *wrong_answers(case.tree, stage.answers)])


def _unrefused(case: Case) -> str:
    return f"not refused: {case.tree['expected_error'].get('message')}"


class Stage:
    """The topics of one case, and what was written to them."""

    def __init__(self, tree: Tree, engine: Engine = "driver") -> None:
        self._tree = tree
        self._engine = engine
        settings = {name: str(item) for name, item in tree["properties"].items()}
        self.session = Session(Catalog(settings))
        self._queries: list[Started] = []
        self._questions: list[Asked] = []
        self._records: list[Sent] = []
        self.batches: list[Batch] = []
        self.answers: list[Answer] = []

    def run(self) -> None:
        """Carry out the statements, then let each query read all of its input."""
        for statement in parse_script("\n".join(self._tree["statements"])):
            outcome = self.session.execute(statement)
            match outcome:
                case Started():
                    self._queries.append(outcome)
                case Asked():
                    self._questions.append(outcome)
                case Inserted():
                    self._insert(outcome)
                case _:
                    pass
        self._records = [*self._given(), *self._records]
        for query in self._queries:
            self._feed(query)
        self.answers = [self._answer(question) for question in self._questions]

    def _given(self) -> Iterator[Sent]:
        known = {source.topic: source for source in reversed(list(self.session.catalog))}
        for record in self._tree["inputs"]:
            source = known.get(record["topic"])
            if source is not None:
                yield sent(record, source)

    def _insert(self, outcome: Inserted) -> None:
        for record in inserted_records(outcome):
            self._records.append(record)
            self.batches.append([told(record, outcome.source)])

    def _feed(self, query: Started) -> None:
        if self._engine == "spark":
            written = fed_on_spark(query, self._read(query.reads))
            self.batches.append([told(item, query.writes) for item in written])
            self._records += written
            return
        driver = TestDriver(query.plan)
        made: list[Sent] = []
        for record in self._read(query.reads):
            batch = pushed(driver, record, query.writes)
            made += batch
            self.batches.append([told(item, query.writes) for item in batch])
        self._records += made

    def _read(self, sources: tuple[SqlSource, ...]) -> list[Sent]:
        topics = {source.topic for source in sources}
        return [record for record in self._records if record.topic in topics]

    def _answer(self, question: Asked) -> Answer:
        driver = TestDriver(question.plan)
        for record in self._read(question.reads):
            driver.push(record.topic, [as_record(record)])
        settled = question.pull and question.table
        rows = driver.table(ANSWER) if settled else driver.rows(ANSWER)
        shown = [
            [plain_tree(row[column.name], column.type) for column in question.columns]
            for row in rows
        ]
        gone = [bool(row.get("_gone")) for row in rows]
        return Answer(question.schema, shown[: question.limit], gone[: question.limit])
