"""Checks of the facts about Kafka's joins: what each record, or all up to a check, gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, TypeAlias

from penstock.errors import ModelError
from penstock.model.join_bound import Interval
from tests.conformance.engine import Pane
from tests.conformance.joins_changes import (
    Given,
    Record,
    Shape,
    Table,
    changes_of,
    expected_record,
    in_order,
    key_text,
    pair,
    text_with,
)
from tests.conformance.joins_kafka import KafkaJoin
from tests.conformance.joins_program import LEFT, RIGHT, Meeting, joined_by_key, stream
from tests.conformance.joins_words import Words
from tests.conformance.runner import Case, Check, Engine, holds, same

Fed: TypeAlias = tuple[str, Any, Any, int]
"""Side, key, value and timestamp of a record."""

_SIDES = {"table": RIGHT, "right": RIGHT, "stream": LEFT, "left": LEFT}
_ONLY_KEY = "k"


@dataclass(frozen=True, slots=True)
class Traces:
    """The checks on one engine."""

    engine: Engine

    def check_trace(self, case: Case) -> None:
        """Compare what each record gives."""
        play = _Play(self.engine, case.given, text_with("-"))
        for place, (step, wanted) in enumerate(_both(case, "emitted")):
            play.feed(step)
            play.compare([expected_record(item) for item in wanted], f"emitted at {place}")

    def check_script(self, case: Case) -> None:
        """Compare what came since the last check."""
        play = _Play(self.engine, case.given, text_with("+"), "+")
        checks = iter(case.expect["checks"])
        for step in case.given["steps"]:
            if "check" in step:
                wanted = [expected_record(item) for item in next(checks)]
                play.compare(wanted, f"check {step['check']}")
            else:
                play.feed(step)

    def check_doc_table(self, case: Case) -> None:
        """Compare the pairs that each record gives to the joiner."""
        foreign = "foreign_key" in case.given
        play = _Play(self.engine, case.given, pair)
        for place, (step, wanted) in enumerate(_both(case, "joined")):
            play.feed(step)
            records = [_foreign(item) if foreign else _pair(step, item) for item in wanted]
            play.compare(records, f"joined at {place}", keyed=foreign)

    def check_final(self, case: Case) -> None:
        """Compare the last change and the table of a join whose steps are not told."""
        play = _Play(self.engine, case.given, text_with("-"))
        for step in case.given["input"]:
            play.feed(step)
        records = play.take()
        last = expected_record(case.expect["last_emitted"])
        wanted = last if last.value is not None else replace(last, time=None)
        same(records[-1], wanted, "last change")
        table = {key: [row.value, row.time] for key, row in play.rows.items()}
        same(table, {key: row for key, row in case.expect["table"].items() if row}, "table")

    def check_null_key(self, case: Case) -> None:
        """Compare what comes of records without a key."""
        play = _Play(self.engine, case.given, text_with("|"))
        for step in case.given["input"]:
            play.feed(step)
        wanted = [Record(key_text(key), value) for key, value in case.expect["emitted"]]
        play.compare(wanted, "emitted")

    def check_foreign_script(self, case: Case) -> None:
        """Compare the last value of each key that has changed since the last check."""
        play = _Play(self.engine, case.given, _in_brackets)
        checks = iter(case.expect["output_after_each_check"])
        known: dict[Any, Any] = {}
        before: dict[Any, Any] = {}
        for step in case.given["steps"]:
            if "check" not in step:
                play.feed(step)
                continue
            records = [Record(key, value) for key, value in next(checks).items()]
            wanted = {record.key: record.value for record in changes_of(records, known)}
            play.take()
            after = {key: row.value for key, row in play.rows.items()}
            changed = [key for key in {**before, **after} if before.get(key) != after.get(key)]
            same({key: after.get(key) for key in changed}, wanted, f"changes up to {step}")
            before = after


class _Play:
    """A join being fed, and what it has given."""

    def __init__(self, engine: Engine, given: Words, shape: Shape, mark: str = "-") -> None:
        self._join = KafkaJoin(engine, given, mark)
        self._table = Table(shape)
        self._given = Given(shape)
        self._known: dict[Any, Any] = {}
        self._records: list[Record] = []
        self._now = 0

    @property
    def rows(self) -> Mapping[Any, Record]:
        """The table that it gives."""
        return self._table.rows

    def feed(self, step: Words) -> None:
        """Give it the records of a step."""
        for side, key, value, at in _records(step, self._now):
            self._now = max(self._now, at)
            self._join.feed(side, key, value, at)
            if self._join.in_turn:
                self._look()

    def take(self) -> list[Record]:
        """Give what came out since the last time."""
        self._look()
        records, self._records = self._records, []
        return records

    def compare(self, wanted: Sequence[Record], what: str, *, keyed: bool = True) -> None:
        """Compare what came out since the last time, as far as the expected records tell."""
        expected = changes_of(wanted, self._known) if self._join.gives_table else list(wanted)
        got = self.take()
        if not any(record.time is not None for record in expected):
            got = [replace(record, time=None) for record in got]
        if not keyed:
            got = [replace(record, key=None) for record in got]
            expected = [replace(record, key=None) for record in expected]
        same(in_order(got), in_order(expected), what)

    def _look(self) -> None:
        result = self._table if self._join.gives_table else self._given
        self._records += result.take(self._join.run.take())


def _both(case: Case, name: str) -> Iterator[tuple[Words, Any]]:
    return zip(case.given["input"], case.expect[name], strict=True)


def _records(step: Words, now: int) -> Iterator[Fed]:
    at = step.get("ts", step.get("offset", now))
    if "side" in step:
        yield step["side"], step.get("key", _ONLY_KEY), step["value"], at
        return
    # Where both sides get a record at one offset the right one is there first.
    for name, side in _SIDES.items():
        if name in step:
            key, value = step[name]
            yield side, key, value, at


def _pair(step: Words, item: Sequence[Any] | None) -> Record:
    key = key_text(step.get("key", _ONLY_KEY))
    return Record(key, None if item is None else tuple(item))


def _foreign(item: Sequence[Any]) -> Record:
    key, *sides = item
    return Record(key_text(key), tuple(sides) if any(sides) else None)


def _in_brackets(pane: Pane) -> str:
    sides = ("null" if side is None else side for side in pair(pane))
    return f"({','.join(sides)})"


def check_window_valid(case: Case) -> None:
    """Check which windows of a join there can be; each change is made to the first one."""
    same(_is_valid(case.given), case.expect["valid"], "valid")


def _is_valid(given: Words) -> bool:
    difference: int = given.get("time_difference", 0)
    first = {"before": difference, "after": difference, "grace": given.get("grace", 0)}
    changes = [change for item in given.get("then", ()) for change in _changes(item)]
    try:
        for side, value in [("grace", first["grace"]), *changes]:
            _join_in({**first, side: value})
    except ModelError:
        return False
    return True


def _changes(item: Words) -> Iterator[tuple[str, int]]:
    for side, values in item.items():
        holds(side in ("before", "after", "grace"), f"{side} is a part of a window")
        for value in values if isinstance(values, list) else [values]:
            yield side, value


def _join_in(parts: Mapping[str, int]) -> None:
    before, after, grace = (timedelta(milliseconds=value) for value in parts.values())
    meeting = Meeting("inner", Interval(before, after), keep_late=grace)
    joined_by_key(stream(LEFT), stream(RIGHT), meeting)


def trace_checks(engine: Engine) -> Mapping[str, Check]:
    """Give the checks on one engine."""
    traces = Traces(engine)
    return {
        "join_trace": traces.check_trace,
        "join_script": traces.check_script,
        "join_doc_table": traces.check_doc_table,
        "join_final": traces.check_final,
        "join_null_key": traces.check_null_key,
        "fk_join_script": traces.check_foreign_script,
        "join_window_valid": check_window_valid,
    }
