"""A case run: its statements one by one, its records one at a time through each query."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

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
from tests.conformance.ksql_driver import DriverFeed, as_record, inserted_records
from tests.conformance.ksql_feed import Feed
from tests.conformance.ksql_script import run_script

Batch = list[dict[str, Any]]
Opened: TypeAlias = Callable[[Started], Feed]
"""How a query is begun."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a case: what is wrong, if anything, and how many queries ran how long."""

    case: Case
    wrong: str
    queries: int
    seconds: float


def outcome_of(case: Case, judge: Judge, opened: Opened = DriverFeed) -> Outcome:
    """Run a case.

    Every record is a batch: what a query writes must come in the order of the records.
    """
    ran: list[Started] = []

    def begun(query: Started) -> Feed:
        ran.append(query)
        return opened(query)

    clock = time.monotonic()
    try:
        wrong = _wrong(case, judge, begun)
    except PenstockError as error:
        wrong = "" if case.wrong else f"{type(error).__name__} {error}"
    except Exception as error:  # noqa: BLE001  # a crash is a failure of its case alone
        wrong = f"crashed: {type(error).__name__}: {error}"
    return Outcome(case, wrong, len(ran), time.monotonic() - clock)


def _wrong(case: Case, judge: Judge, opened: Opened) -> str:
    if case.tree["kind"] == "sql":
        wrong = run_script(case.tree, opened)
        return "" if bool(wrong) == case.wrong else wrong or _unrefused(case)
    stage = Stage(case.tree)
    stage.begin()
    for query in stage.queries:
        with opened(query) as feed:
            for record in stage.read(query.reads):
                stage.take(query, feed.push(record))
    stage.end()
    return _unrefused(case) if case.wrong else judged(stage, judge)


def judged(stage: Stage, judge: Judge) -> str:
    """Give what is wrong with what the queries of a case wrote and what it was answered."""
    complaints = judge(stage.tree, stage.batches, "exact", "strict")
    return "; ".join([*complaints, *wrong_answers(stage.tree, stage.answers)])


def _unrefused(case: Case) -> str:
    return f"not refused: {case.tree['expected_error'].get('message')}"


class Stage:
    """The topics of one case, and what was written to them."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        settings = {name: str(item) for name, item in tree["properties"].items()}
        self.session = Session(Catalog(settings))
        self.queries: list[Started] = []
        self._questions: list[Asked] = []
        self._records: list[Sent] = []
        self.batches: list[Batch] = []
        self.answers: list[Answer] = []

    def begin(self) -> None:
        """Carry out the statements."""
        for statement in parse_script("\n".join(self.tree["statements"])):
            outcome = self.session.execute(statement)
            match outcome:
                case Started():
                    self.queries.append(outcome)
                case Asked():
                    self._questions.append(outcome)
                case Inserted():
                    self._insert(outcome)
                case _:
                    pass
        self._records = [*self._given(), *self._records]

    def end(self) -> None:
        """Answer what is asked."""
        self.answers = [self._answer(question) for question in self._questions]

    def _given(self) -> Iterator[Sent]:
        known = {source.topic: source for source in reversed(list(self.session.catalog))}
        for record in self.tree["inputs"]:
            source = known.get(record["topic"])
            if source is not None:
                yield sent(record, source)

    def _insert(self, outcome: Inserted) -> None:
        for record in inserted_records(outcome):
            self._records.append(record)
            self.batches.append([told(record, outcome.source)])

    def read(self, sources: tuple[SqlSource, ...]) -> list[Sent]:
        """Give the records that there are of sources, in their order."""
        topics = {source.topic for source in sources}
        return [record for record in self._records if record.topic in topics]

    def take(self, query: Started, written: Sequence[Sent]) -> None:
        """Take what a query has written of one record; later queries may read it."""
        self._records += written
        self.batches.append([told(item, query.writes) for item in written])

    def _answer(self, question: Asked) -> Answer:
        driver = TestDriver(question.plan)
        for record in self.read(question.reads):
            driver.push(record.topic, [as_record(record)])
        settled = question.pull and question.table
        rows = driver.table(ANSWER) if settled else driver.rows(ANSWER)
        if settled:
            rows = sorted(rows, key=lambda row: [row[name] for name in question.order])
        shown = [
            [plain_tree(row[column.name], column.type) for column in question.columns]
            for row in rows
        ]
        gone = [bool(row.get("_gone")) for row in rows]
        return Answer(question.schema, shown[: question.limit], gone[: question.limit])
