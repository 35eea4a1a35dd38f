"""Checks of the facts from Streaming Systems about joins: as changes, and as tables.

The rows come one at a time in the order of their processing times; what a row changes carries
its processing time, as the book's listings do. Rows that are given and taken back again at one
time are no change. The book's ANTI join gives the rows of both sides that have no partner.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from penstock.model.expr import Call, Column, Expr, Literal
from penstock.model.join import Join, Pick
from penstock.model.join_bound import Bound, SameWindow, Whole
from penstock.model.latest import Latest
from penstock.model.relation import Relation
from penstock.model.stateless import Filter, Named, Project
from penstock.model.versions import VALID_FROM, VALID_TO, Versions
from penstock.schema.types import INT64, STRING
from tests.conformance.dataflow_time import moment
from tests.conformance.dataflow_window import windows_of
from tests.conformance.engine import Row
from tests.conformance.joins_program import KEY, LEFT, RIGHT, Meeting, how_of, join, plan_of, stream
from tests.conformance.joins_run import start
from tests.conformance.joins_words import Words, window_of
from tests.conformance.runner import Case, Check, Engine, same

ID = "id"
TIME = "time"
RATES = "rates"
ORDERS = "orders"
_MINUTE = 60_000
_HOUR = 60 * _MINUTE
_PRINTED = ("order", VALID_FROM, VALID_TO)
_COLUMNS = {KEY: STRING, ID: STRING, TIME: INT64}

Arrival: TypeAlias = tuple[int, str, Row]
"""When a row comes, from which topic, and the row."""
Change: TypeAlias = tuple[int, Mapping[str, Any], int]
"""When a row changed, the row, and by how much."""


@dataclass(frozen=True, slots=True)
class Book:
    """The checks on one engine."""

    engine: Engine

    def check_changes(self, case: Case) -> None:
        """Compare the changes of a join, each with its time."""
        changes = self._changes(_two_sides(case.given), _sides(case.given))
        _same_stream(changes, case.expect["stream"], ("left", "right"))

    def check_table(self, case: Case) -> None:
        """Compare the table that the changes amount to."""
        changes = self._changes(_two_sides(case.given), _sides(case.given))
        rows = [_table_row(row, case.given) for row in _amount(changes)]
        _same_rows(rows, case.expect["rows"])

    def check_versions(self, case: Case) -> None:
        """Compare when each rate was valid, as changes or as a table."""
        changes = self._changes(_versions(case.given), _rates(case.given, case.given["input"]))
        if "stream" in case.expect:
            _same_stream(changes, case.expect["stream"], ("rate", "window"))
        else:
            _same_table(changes, case.expect["rows"], ("rate", VALID_FROM, VALID_TO))

    def check_valid_join(self, case: Case) -> None:
        """Compare orders with the rate that was valid, as changes or as a table."""
        given = case.given
        changes = self._changes(_valued_orders(given), _orders_and_rates(given))
        if "stream" in case.expect:
            fields = ("amount", "rate", "yen", "order", "rate_window")
            _same_stream(changes, case.expect["stream"], fields)
        else:
            columns = ("amount", "rate", "yen", "order", VALID_FROM, VALID_TO)
            _same_table(changes, case.expect["rows"], columns)

    def _changes(self, relation: Relation, arrivals: Iterable[Arrival]) -> list[Change]:
        """Run a program, and give what each arrival changed."""
        run = start(self.engine, plan_of(relation))
        changes: list[Change] = []
        for at, topic, row in sorted(arrivals, key=lambda arrival: arrival[0]):
            run.push(topic, row, at=at)
            net: Counter[tuple[tuple[str, Any], ...]] = Counter()
            for pane in run.take():
                net[tuple(_printed(pane.row).items())] += pane.weight
            changes += [(at, dict(row), weight) for row, weight in net.items() if weight]
        return changes


def _two_sides(given: Words) -> Relation:
    """Join the rows of both sides by their key: in windows, or as the tables they are."""
    left: Relation = stream(LEFT, _COLUMNS, TIME)
    right: Relation = stream(RIGHT, _COLUMNS, TIME)
    bound: Bound = Whole()
    if given.get("window"):
        bound = SameWindow(window_of(given))
    else:
        left, right = Latest(left, (ID,)), Latest(right, (ID,))
    anti = given["type"] == "anti"
    how = how_of("full" if anti else given["type"])
    picks = [Pick(LEFT, ID), Pick("left_time", TIME)]
    if how != "semi":
        picks += [Pick(RIGHT, None, ID), Pick("right_time", None, TIME)]
    joined = join(left, right, ((KEY, KEY),), Meeting(how, bound, eager=True), picks)
    if not anti:
        return joined
    missing = [Call("is_null", (Column(side),)) for side in (LEFT, RIGHT)]
    return Filter(joined, Call("or", tuple(missing)))


def _sides(given: Words) -> Iterator[Arrival]:
    for side in (LEFT, RIGHT):
        for key, name, time in given["input"][side]:
            at = moment(time)
            if _is_there(given, at):
                yield at, side, {KEY: key, ID: name, TIME: at}


def _is_there(given: Words, at: int) -> bool:
    return "as_of" not in given or at <= moment(given["as_of"])


def _table_row(row: Row, given: Words) -> tuple[Any, ...]:
    sides = tuple(row[side] for side in (LEFT, RIGHT) if side in row)
    if not given.get("window"):
        return sides
    times = [row[name] for name in ("left_time", "right_time") if row.get(name) is not None]
    ((begin, _),) = {windows_of(window_of(given), time)[0] for time in times}
    return (*sides, _minute(begin))


def _rate_stream(given: Words) -> Relation:
    columns = {KEY: STRING, "rate": INT64, TIME: INT64}
    return _of_key(stream(RATES, columns, TIME), given)


def _versions(given: Words) -> Versions:
    return Versions(_rate_stream(given), (KEY,))


def _of_key(relation: Relation, given: Words) -> Relation:
    if "key" not in given:
        return relation
    return Filter(relation, Call("eq", (Column(KEY), Literal(given["key"]))))


def _valued_orders(given: Words) -> Relation:
    """Join orders with the rates that were valid when they were made."""
    columns = {KEY: STRING, "amount": INT64, "order": INT64}
    orders = Latest(_of_key(stream(ORDERS, columns, "order"), given), (KEY, "order"))
    names = ("rate", VALID_FROM, VALID_TO)
    joined = Join(
        orders,
        _versions(given),
        ((KEY, KEY),),
        how_of(given["type"]),
        Whole(),
        (
            Pick("amount", "amount"),
            Pick("order", "order"),
            *(Pick(name, None, name) for name in names),
        ),
        eager=True,
        condition=_valid(Column("order")),
    )
    kept = tuple(Named(name, Column(name)) for name in joined.schema.names)
    yen = Call("multiply", (Column("amount"), Column("rate")))
    return Project(joined, (*kept, Named("yen", yen)))


def _valid(time: Expr) -> Expr:
    begun = Call("ge", (time, Call("millis", (Column(VALID_FROM),))))
    unended = Call("is_null", (Column(VALID_TO),))
    before = Call("lt", (time, Call("millis", (Column(VALID_TO),))))
    return Call("and", (begun, Call("or", (unended, before))))


def _rates(given: Words, rows: Iterable[Sequence[Any]]) -> Iterator[Arrival]:
    for key, rate, time, at in rows:
        if _is_there(given, moment(at)):
            yield moment(at), RATES, {KEY: key, "rate": rate, TIME: moment(time)}


def _orders_and_rates(given: Words) -> Iterator[Arrival]:
    yield from _rates(given, given["input"][RATES])
    for key, amount, time, at in given["input"][ORDERS]:
        if _is_there(given, moment(at)):
            yield moment(at), ORDERS, {KEY: key, "amount": amount, "order": moment(time)}


def _printed(row: Row) -> Row:
    """Give a row with its times as the book prints them."""
    times = {name: _minute(row[name]) for name in _PRINTED if name in row}
    if VALID_FROM not in times:
        return row
    span = None if times[VALID_FROM] is None else (times[VALID_FROM], times[VALID_TO])
    return {**row, **times, "window": span, "rate_window": span}


def _amount(changes: Iterable[Change]) -> list[dict[str, Any]]:
    """Give the rows that changes leave."""
    net: Counter[tuple[tuple[str, Any], ...]] = Counter()
    for _, row, weight in changes:
        net[tuple(row.items())] += weight
    assert all(weight >= 0 for weight in net.values()), "a row is taken back that was not given"
    return [dict(row) for row, weight in net.items() for _ in range(weight)]


def _same_stream(changes: Sequence[Change], wanted: Sequence[Words], fields: Sequence[str]) -> None:
    """Compare changes in the fields that the expected ones tell; those of one time in any order."""
    told = [name for name in fields if any(name in item for item in wanted)]
    got = [
        (at, weight < 0, *(_as_told(row[name]) for name in told))
        for at, row, weight in changes
        for _ in range(abs(weight))
    ]
    expected = [
        (moment(item["time"]), bool(item.get("undo")), *(_as_told(item[name]) for name in told))
        for item in wanted
    ]
    same(sorted(got, key=repr), sorted(expected, key=repr), "changes")


def _same_table(
    changes: Sequence[Change], wanted: Sequence[Sequence[Any]], columns: Sequence[str]
) -> None:
    """Compare what changes amount to."""
    _same_rows([tuple(row[name] for name in columns) for row in _amount(changes)], wanted)


def _same_rows(got: Iterable[Sequence[Any]], wanted: Iterable[Sequence[Any]]) -> None:
    """Compare rows in any order."""
    one, other = ([tuple(map(_as_told, row)) for row in rows] for rows in (got, wanted))
    same(sorted(one, key=repr), sorted(other, key=repr), "rows")


def _as_told(value: Any) -> Any:  # noqa: ANN401  any JSON
    """Give a value of the book; its times are compared to the minute, as most are printed."""
    if isinstance(value, list | tuple):
        return tuple(_as_told(item) for item in value)
    return _minute(moment(value)) if isinstance(value, str) and ":" in value else value


def _minute(time: int | None) -> str | None:
    return None if time is None else f"{time // _HOUR:02}:{time % _HOUR // _MINUTE:02}"


def book_checks(engine: Engine) -> Mapping[str, Check]:
    """Give the checks on one engine."""
    book = Book(engine)
    return {
        "changelog_join": book.check_changes,
        "table_join": book.check_table,
        "validity_windows": book.check_versions,
        "validity_join": book.check_valid_join,
    }
