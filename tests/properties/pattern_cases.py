"""Random patterns, with rows to look for them in, and what they give there by the oracle."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeAlias

from penstock.errors import ModelError
from penstock.model.expr import Call, Column, Expr, Literal
from penstock.model.match import Match, Rows, Skip
from penstock.model.navigation import Navigation, Reach, navigation_expr
from penstock.model.pattern import Pattern
from penstock.model.pattern_part import (
    Absent,
    Gap,
    Hidden,
    InOrder,
    NotNext,
    OneOf,
    Part,
    PatternStep,
    Times,
)
from penstock.model.plan import Plan, Sink
from penstock.model.source import Stream
from penstock.model.stateless import Named
from penstock.model.watermark import BoundedDisorder
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT64, STRING, TIMESTAMP
from tests.properties.pattern_oracle import Holds, Oracle, Row, Taken

COLUMNS = Schema(
    (Field("key", STRING), Field("id", INT64), Field("v", INT64), Field("at", TIMESTAMP))
)
NAMES = ("a", "b", "c")
DENIED = "x"
DISORDER = 4
Value: TypeAlias = Callable[[Sequence[Row], int, Taken], Any]
FOLDS: dict[str, Callable[[list[int]], float]] = {
    "sum": sum,
    "min": min,
    "max": max,
    "avg": lambda values: sum(values) / len(values),
}
COMPARISONS = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
}


@dataclass(frozen=True)
class Case:
    """A pattern, the rows of a stream in the order of their arrival, and the answer."""

    match: Match
    rows: tuple[Row, ...]
    expected: tuple[Row, ...]

    @property
    def plan(self) -> Plan:
        """The program that writes the matches to `out`."""
        return Plan("patterns", (Sink(self.match, "out"),))


def a_case(seed: int, *, earlier: bool = True, most_rows: int = 12) -> Case:
    """Make a case of chance; `earlier` lets conditions ask for rows matched before."""
    chance = random.Random(seed)
    maker = _Maker(chance, earlier=earlier)
    pattern = maker.pattern()
    skip = maker.skip(pattern)
    shape: Rows = chance.choice(("one", "all"))
    names = [step.name for step in pattern.steps]
    delay = timedelta(milliseconds=DISORDER)
    stream = Stream("in", COLUMNS, event_time="at", watermark=BoundedDisorder(delay))
    measures = _measures(names, shape)
    if chance.random() < 0.7:
        # Without a number matches are given as soon as they are known.
        measures = tuple(measure for measure in measures if measure.name != "number")
    match = Match(stream, ("key",), pattern, measures, skip, shape)
    rows = maker.rows(chance.randint(0, most_rows))
    oracle = Oracle(pattern, skip, maker.meanings)
    expected: list[Row] = []
    for key in ("k", "l", None):
        mine = sorted((row for row in rows if row["key"] == key), key=lambda row: row["at"])
        for number, taken in enumerate(oracle.matches(mine), 1):
            expected += _results(mine, taken, names, number, shape)
    given = {*match.schema.names, "_time"}
    asked = ({name: value for name, value in row.items() if name in given} for row in expected)
    return Case(match, tuple(rows), tuple(asked))


def ordered(rows: Sequence[Row]) -> list[str]:
    """Give results in an order that does not depend on how they came."""
    return sorted(repr(sorted(row.items())) for row in rows)


class _Maker:
    """Makes parts, conditions and rows of chance."""

    def __init__(self, chance: random.Random, *, earlier: bool) -> None:
        self._chance = chance
        self._earlier = earlier
        self.meanings: dict[Expr, Holds] = {}
        self._within = chance.choice((None, 3, 6, 12))
        self._relaxed = chance.random() < 0.3
        self._steps = {name: PatternStep(name, self._maybe()) for name in (*NAMES, DENIED)}

    def pattern(self) -> Pattern:
        within = self._within
        span = None if within is None else timedelta(milliseconds=within)
        while True:
            try:
                return Pattern(self._part(3), span)
            except ModelError:
                continue

    def skip(self, pattern: Pattern) -> Skip:
        name = self._chance.choice([step.name for step in pattern.steps])
        return self._chance.choice(
            (Skip(), Skip("next row"), Skip("first", name), Skip("last", name))
        )

    def rows(self, count: int) -> list[Row]:
        """Rows none of which is more than `DISORDER` behind the latest before it."""
        latest, rows = 0, []
        for number in range(count):
            latest += self._chance.choice((0, 1, 1, 2, 5))
            rows.append(
                {
                    "key": self._chance.choice(("k", "k", "k", "l", None)),
                    "id": number,
                    "v": self._chance.choice((0, 1, 2, 3, None)),
                    "at": max(0, latest - self._chance.choice((0, 0, 1, DISORDER))),
                }
            )
        return rows

    def _part(self, depth: int) -> Part:
        if depth == 0 or self._chance.random() < 0.3:
            return self._steps[self._chance.choice(NAMES)]
        make = self._chance.choice((self._in_order, self._in_order, self._one_of, self._times))
        part = make(depth - 1)
        return Hidden(part) if self._chance.random() < 0.1 else part

    def _in_order(self, depth: int) -> Part:
        parts = [self._part(depth)]
        for _ in range(self._chance.randint(1, 2)):
            denied = self._steps[DENIED]
            links = ("gap", "any", "without", "gap", "next", "next", "not next")
            link = self._chance.choice(links[:4] if self._relaxed else links[1:])
            between: dict[str, Part] = {
                "gap": Gap(),
                "any": Gap("any"),
                "without": Gap(self._chance.choice(("others", "any")), (denied,)),
                "not next": NotNext(denied),
            }
            parts += [between[link]] if link in between else []
            parts.append(self._part(depth))
        if self._chance.random() < 0.15:
            end = self._chance.choice((NotNext, Absent))
            parts.append(end(self._steps[DENIED]))
        return InOrder(tuple(parts))

    def _one_of(self, depth: int) -> Part:
        return OneOf(tuple(self._part(depth) for _ in range(self._chance.randint(2, 3))))

    def _times(self, depth: int) -> Part:
        least = self._chance.choice((0, 0, 1, 1, 2))
        most = self._chance.choice((None, None, max(1, least), least + 1, least + 2))
        gaps = (Gap(), Gap("any"), None, None)
        return Times(
            self._part(depth),
            least,
            most,
            greedy=self._chance.random() < 0.6,
            apart=self._chance.choice(gaps[:2] if self._relaxed else gaps),
            until=self._condition() if self._chance.random() < 0.15 else None,
        )

    def _maybe(self) -> Expr | None:
        always = self._relaxed or self._chance.random() >= 0.15
        return self._condition() if always else None

    def _condition(self) -> Expr:
        compare = self._chance.choice(list(COMPARISONS))
        one, value = _column("v")
        other, threshold = self._operand()
        expr = Call(compare, (one, other))
        self.meanings[expr] = _compared(compare, value, threshold)
        if self._chance.random() < 0.25:
            return self._joined(expr)
        return expr

    def _joined(self, one: Expr) -> Expr:
        other = self._condition()
        word = self._chance.choice(("and", "or"))
        expr = Call(word, (one, other))
        self.meanings[expr] = _decided(word, self.meanings[one], self.meanings[other])
        return expr

    def _operand(self) -> tuple[Expr, Value]:
        if not self._earlier or self._chance.random() < 0.6:
            if self._chance.random() < 0.25:
                back = self._chance.randint(1, 2)
                return self._asked(Navigation("last", (), Column("v"), back=back))
            constant = self._chance.randint(0, 3)
            return Literal(constant), lambda *_: constant
        steps = self._chance.choice(((), ("a",), ("b",), ("a", "b")))
        function: Reach = self._chance.choice(
            ("last", "last", "first", "count", "sum", "min", "max", "avg")
        )
        of = None if function == "count" and self._chance.random() < 0.5 else Column("v")
        one_row = function in ("first", "last")
        offset = self._chance.choice((0, 0, 1)) if one_row else 0
        back = self._chance.choice((0, 0, 0, 1)) if one_row else 0
        return self._asked(Navigation(function, steps, of, offset, back))

    def _asked(self, navigation: Navigation) -> tuple[Expr, Value]:
        within = self._within

        def value(rows: Sequence[Row], _: int, taken: Taken) -> object:
            return _value(navigation, rows, taken, within)

        return navigation_expr(navigation), value


def _column(name: str) -> tuple[Expr, Value]:
    return Column(name), lambda rows, place, _: rows[place][name]


def _value(
    navigation: Navigation, rows: Sequence[Row], taken: Taken, within: int | None = None
) -> Any:  # noqa: ANN401
    """What a navigation gives after rows were taken; rows `within` older are not looked at."""
    places = [place for step, place, _ in taken if not navigation.steps or step in navigation.steps]
    if navigation.function in ("first", "last"):
        return _of_one_row(navigation, rows, places, within)
    values = [rows[place]["v"] for place in places if rows[place]["v"] is not None]
    if navigation.function == "count":
        return len(places if navigation.of is None else values)
    return FOLDS[navigation.function](values) if values else None


def _of_one_row(
    navigation: Navigation, rows: Sequence[Row], places: list[int], within: int | None
) -> Any:  # noqa: ANN401
    turned = places if navigation.function == "first" else places[::-1]
    if navigation.offset >= len(turned):
        return None
    place = turned[navigation.offset]
    before = place - navigation.back
    known = before >= 0
    if known and within is not None:
        known = rows[place]["at"] - rows[before]["at"] < within
    return rows[before]["v"] if known else None


def _compared(word: str, one: Value, other: Value) -> Holds:
    def holds(rows: Sequence[Row], place: int, taken: Taken) -> bool | None:
        left, right = one(rows, place, taken), other(rows, place, taken)
        return None if left is None or right is None else bool(COMPARISONS[word](left, right))

    return holds


def _decided(word: str, one: Holds, other: Holds) -> Holds:
    alone = word == "or"

    def holds(rows: Sequence[Row], place: int, taken: Taken) -> bool | None:
        values = (one(rows, place, taken), other(rows, place, taken))
        if alone in values:
            return alone
        return None if None in values else not alone

    return holds


def _measures(names: Sequence[str], shape: Rows) -> tuple[Named, ...]:
    asked = {
        **{f"ids_{name}": Navigation("collect_list", (name,), Column("id")) for name in names},
        "ids": Navigation("collect_list", (), Column("id"), final=True),
        "count": Navigation("count"),
        "total": Navigation("sum", (names[0],), Column("v")),
        "second": Navigation("first", (), Column("id"), offset=1),
        "earlier": Navigation("last", (names[-1],), Column("id"), offset=1),
        "number": Navigation("match_number"),
    }
    if shape == "all":
        asked["step"] = Navigation("classifier")
    return tuple(Named(name, navigation_expr(asked_for)) for name, asked_for in asked.items())


def _results(
    rows: Sequence[Row], taken: Taken, names: Sequence[str], number: int, shape: Rows
) -> list[Row]:
    if shape == "one":
        return [{"key": rows[taken[0][1]]["key"], **_given(rows, taken, taken, names, number)}]
    found = []
    for count, (step, place, hidden) in enumerate(taken, 1):
        if not hidden:
            given = _given(rows, taken[:count], taken, names, number)
            found.append({**rows[place], **given, "step": step})
    return found


def _given(
    rows: Sequence[Row], taken: Taken, whole: Taken, names: Sequence[str], number: int
) -> Row:
    ids = [rows[place]["id"] for _, place, _ in taken]
    by_step = {
        name: [rows[place]["id"] for step, place, _ in taken if step == name] for name in names
    }
    last = by_step[names[-1]]
    return {
        **{f"ids_{name}": found for name, found in by_step.items()},
        "ids": [rows[place]["id"] for _, place, _ in whole],
        "count": len(taken),
        "total": _value(Navigation("sum", (names[0],), Column("v")), rows, taken),
        "second": ids[1] if len(ids) > 1 else None,
        "earlier": last[-2] if len(last) > 1 else None,
        "number": number,
        "_time": rows[whole[-1][1]]["at"],
    }
