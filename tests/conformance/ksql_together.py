"""Cases that one streaming query of Spark runs side by side: to start one costs the most.

They are one program with as many outputs, and share nothing but its watermark: topics of a case
have its number before their names. Each round gives every case its next record. A case that does
not pass so runs alone: then it counts what happens there.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from typing import Any

from penstock.front.sql.statement import Started
from penstock.model.plan import Plan, Sink
from penstock.model.relation import Relation
from penstock.model.source import Stream
from tests.conformance.ksql_case import Case, Judge
from tests.conformance.ksql_codec import Sent
from tests.conformance.ksql_run import Outcome, Stage, judged, outcome_of
from tests.conformance.ksql_spark import SparkFeed, SparkRun

AT_MOST = 40
_AT_ONCE = 2
# What these make depends on how far event time is, which is one for a whole program.
_TIMED = re.compile(r"\b(WINDOW|WITHIN|FINAL)\b", re.IGNORECASE)


def may_share(case: Case) -> bool:
    """Whether a case can be one of several in a program."""
    words = " ".join(case.tree["statements"])
    return case.tree["kind"] != "sql" and not case.wrong and not _TIMED.search(words)


@dataclass(frozen=True, slots=True)
class _Member:
    """A case with its one query, and how its topics are called among the others'."""

    stage: Stage
    query: Started
    prefix: str

    @property
    def records(self) -> list[Sent]:
        """Give what its query reads."""
        return [
            item._replace(topic=self.prefix + item.topic)
            for item in self.stage.read(self.query.reads)
        ]

    def sinks(self) -> Iterator[Sink]:
        """Give its outputs with topics of their own."""
        made: dict[int, Relation] = {}
        for sink in self.query.plan.sinks:
            relation = _renamed(sink.relation, self.prefix, made)
            yield replace(sink, topic=self.prefix + sink.topic, relation=relation)


def outcomes_on_spark(cases: Iterable[Case], judge: Judge) -> Iterator[Outcome]:
    """Run cases on Spark; give what came of each as they are done."""
    alone: list[Case] = []
    sharing: list[Case] = []
    for case in cases:
        (sharing if may_share(case) else alone).append(case)
    for first in range(0, len(sharing), AT_MOST):
        group = sharing[first : first + AT_MOST]
        passed = {outcome.case.id: outcome for outcome in _passed_together(group, judge)}
        yield from passed.values()
        alone += [case for case in group if case.id not in passed]
    # A query waits for processes to start, in which time another can work.
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        yield from threads.map(lambda case: outcome_of(case, judge, SparkFeed), alone)


def _passed_together(cases: Sequence[Case], judge: Judge) -> Iterator[Outcome]:
    clock = time.monotonic()
    try:
        done = run_together(cases)
    except Exception:  # noqa: BLE001  # whichever case it was will fail alone, too
        return
    seconds = (time.monotonic() - clock) / max(1, len(done))
    for case in cases:
        if case.id in done and not judged(done[case.id], judge):
            yield Outcome(case, "", 1, seconds)


def run_together(cases: Sequence[Case]) -> Mapping[str, Stage]:
    """Run cases as one program; give those that could be, by id, done."""
    members: dict[str, _Member] = {}
    for number, case in enumerate(cases):
        stage = Stage(case.tree)
        with suppress(Exception):
            stage.begin()
            if len(stage.queries) == 1 and stage.read(stage.queries[0].reads):
                members[case.id] = _Member(stage, stage.queries[0], f"case{number}.")
    if not members:
        return {}
    written = _written(list(members.values()))
    done: dict[str, Stage] = {}
    for id_, member in members.items():
        with suppress(Exception):
            for batch in written[member.prefix]:
                member.stage.take(member.query, batch)
            member.stage.end()
            done[id_] = member.stage
    return done


def _written(members: Sequence[_Member]) -> Mapping[str, list[list[Sent]]]:
    """Give what each member wrote of each of its records."""
    sinks = tuple(sink for member in members for sink in member.sinks())
    run = SparkRun(replace(members[0].query, id="TOGETHER", plan=Plan("TOGETHER", sinks)))
    waiting = [member.records for member in members]
    written: dict[str, list[list[Sent]]] = {member.prefix: [] for member in members}
    try:
        for turn in range(max(map(len, waiting))):
            found = run.push([records[turn] for records in waiting if turn < len(records)])
            for prefix, batches in written.items():
                own = [item for item in found if item.topic.startswith(prefix)]
                batches.append([item._replace(topic=item.topic[len(prefix) :]) for item in own])
    finally:
        run.close()
    return written


def _renamed(relation: Relation, prefix: str, made: dict[int, Relation]) -> Relation:
    # What two steps share stays shared: it is read once.
    if id(relation) not in made:
        changes: dict[str, Any] = {}
        for field in fields(relation):
            value = getattr(relation, field.name)
            if isinstance(value, Relation):
                changes[field.name] = _renamed(value, prefix, made)
            elif isinstance(value, tuple) and any(isinstance(item, Relation) for item in value):
                changes[field.name] = tuple(_renamed(item, prefix, made) for item in value)
        if isinstance(relation, Stream):
            changes["topic"] = prefix + relation.topic
        made[id(relation)] = replace(relation, **changes)
    return made[id(relation)]
