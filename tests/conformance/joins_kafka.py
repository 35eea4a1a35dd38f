"""Joins as Kafka Streams describes them: which inputs there are, and how records are fed.

A stream or a table is a topic; a record's timestamp is its event time. Kafka's stream time is
the greatest timestamp seen; the watermark is told from it before each record:

* stream-stream: stream time less the grace. A row comes out alone when stream time is past its
  window and the grace, which is when our watermark is past its last partner. Kafka's stores
  keep rows for longer than that, in segments of a minute: the joins have that as `keep_late`.
* stream-table with a grace: stream time (of the stream's records that have a value) less the
  grace, plus one, since Kafka answers a record when stream time reaches it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta

from penstock.model.expr import Cast, Column, Expr, Literal
from penstock.model.join_bound import AsOf, Interval, Whole
from penstock.model.plan import Plan
from penstock.model.relation import Relation
from penstock.schema.types import STRING
from tests.conformance.joins_changes import key_text
from tests.conformance.joins_program import (
    KEY,
    LEFT,
    RIGHT,
    VALUE,
    Meeting,
    as_value,
    how_of,
    joined_by_key,
    looked_up,
    plan_of,
    rekeyed,
    stream,
    table,
    text_after,
    with_column,
    with_value,
)
from tests.conformance.joins_run import JoinRun, start
from tests.conformance.joins_words import UNITS, Words
from tests.conformance.runner import Engine

_DAY = 86_400_000
_SEGMENT = timedelta(minutes=1)
_HISTORY = timedelta(days=1)
_NO_VALUE = "returnNull"
_NAMED = re.compile(r"text after (?:the )?(?P<mark>\S+)")
_MARKS = {"comma": ",", "bar": "|", "pipe": "|", "colon": ":"}


@dataclass(frozen=True, slots=True)
class JoinWindow:
    """How far apart rows of two streams may be, and for how long late ones are waited for.

    All in milliseconds; `unit` is what the timestamps of the fact count.
    """

    before: int
    after: int
    grace: int
    unit: int = 1

    @property
    def bound(self) -> Interval:
        """The bound of the join."""
        return Interval(timedelta(milliseconds=self.before), timedelta(milliseconds=self.after))


def join_window(given: Words) -> JoinWindow:
    """Read the window of a join; where no grace is said, Kafka's old one of a day holds."""
    words: Words = given.get("window") or {"before_ms": 10_000, "after_ms": 10_000}
    found: dict[str, int] = {"grace": _DAY}
    unit = 1
    for name, value in words.items():
        what, _, suffix = name.rpartition("_")
        if what in ("before", "after"):
            unit = UNITS[suffix]
        found[what] = value * UNITS[suffix]
    return JoinWindow(found["before"], found["after"], found["grace"], unit)


class KafkaJoin:
    """The program of a fact, and how its records are fed."""

    def __init__(self, engine: Engine, given: Words, mark: str = "-") -> None:
        self._given = given
        self._kind: str = given["join"]
        self._mark = mark
        self._window = join_window(given)
        self._time = 0
        self._told = min(self._window.before, self._window.after, 0)
        self.run: JoinRun = start(engine, self._plan())

    @property
    def gives_table(self) -> bool:
        """Whether its result is a table."""
        return self._kind.startswith("table-table")

    @property
    def in_turn(self) -> bool:
        """Whether it matters which side's record came first: streams meet either way."""
        return self._kind != "stream-stream"

    def feed(self, side: str, key: object, value: object, at: int) -> None:
        """Give a record to one side."""
        time = at * self._window.unit
        self._tell(side, value, time)
        topic = LEFT if self._given.get("self_join") else side
        row = {KEY: key_text(key), VALUE: None if value is None else str(value)}
        if value is None and self._is_table(side):
            self.run.delete(topic, {KEY: row[KEY]}, at=time)
        else:
            self.run.push(topic, row, at=time)

    def _is_table(self, side: str) -> bool:
        return self.gives_table or (side == RIGHT and "table" in self._kind)

    def _tell(self, side: str, value: object, time: int) -> None:
        grace = self._given.get("grace_ms")
        if self._kind == "stream-stream":
            self._time = max(self._time, time)
            self._advance(self._time - self._window.grace)
        elif grace is not None and side == LEFT and value is not None:
            self._time = max(self._time, time)
            self._advance(self._time - grace + 1)

    def _advance(self, watermark: int) -> None:
        # No time is before 0, so that an earlier watermark closes nothing.
        if watermark > self._told:
            self._told = watermark
            self.run.watermark(watermark)

    def _plan(self) -> Plan:
        meeting = self._meeting()
        if self._kind == "stream-stream":
            return self._of_streams(meeting)
        versioned = self._given.get("versioned")
        right = table(RIGHT, "event time" if versioned in ("right", "both", True) else "arrival")
        if not self.gives_table:
            return plan_of(self._lookup(with_value(stream(LEFT)), right, meeting))
        left = table(LEFT, "event time" if versioned in ("left", "both") else "arrival")
        if "foreign_key" in self._given:
            return plan_of(self._lookup(left, right, meeting))
        return self._chained(left, right, meeting)

    def _of_streams(self, meeting: Meeting) -> Plan:
        left = with_value(stream(LEFT))
        right = left if self._given.get("self_join") else with_value(stream(RIGHT))
        if self._given.get("repartitioned"):
            left, right = rekeyed(left), rekeyed(right)
        return self._chained(left, right, meeting)

    def _chained(self, left: Relation, right: Relation, meeting: Meeting) -> Plan:
        """Join, and where the fact says so join the result with the right side once more."""
        first = joined_by_key(left, right, meeting)
        then = self._given.get("then")
        if then is None:
            return plan_of(first)
        again = Meeting(how_of(then["type"]), meeting.bound, meeting.eager, meeting.keep_late)
        return plan_of(joined_by_key(as_value(first, self._mark), right, again))

    def _lookup(self, left: Relation, right: Relation, meeting: Meeting) -> Relation:
        named = [name for name in ("foreign_key", "mapped_key") if name in self._given]
        if not named:
            return looked_up(left, right, KEY, meeting)
        key = _key_of(self._given[named[0]])
        return looked_up(with_column(left, named[0], key), right, named[0], meeting)

    def _meeting(self) -> Meeting:
        how = how_of(self._given["type"])
        if self.gives_table:
            return Meeting(how, Whole())
        if self._kind == "stream-stream":
            eager = bool(self._given.get("eager_outer"))
            return Meeting(how, self._window.bound, eager, _SEGMENT)
        if not self._given.get("versioned"):
            return Meeting(how, AsOf())
        waits = self._given.get("grace_ms") is not None
        return Meeting(how, AsOf("event time", wait=waits, keep=_HISTORY))


def _key_of(words: str | None) -> Expr:
    """Read how a key is found in a value."""
    if words is None:
        return Cast(Literal(None), STRING)
    found = _NAMED.search(words)
    if found is None:
        return Column(VALUE)
    mark = _MARKS.get(found["mark"], found["mark"])
    return text_after(mark, but=_NO_VALUE)
