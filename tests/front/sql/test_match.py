from __future__ import annotations

from itertools import count
from typing import Any

import pytest

import penstock as ps
from penstock.front.dsl.patterns import PatternPart
from penstock.front.sql.catalog import Catalog
from penstock.front.sql.parse import parse_script
from penstock.front.sql.statement import Session, Started
from penstock.model.match import Match, Skip
from penstock.model.pattern import Pattern
from tests.front.sql.script import TABLE, Script, outcomes, refusal

NUMBERS = count()
PRICES = (
    "CREATE STREAM p (share STRING KEY, price INT, kind STRING)"
    " WITH (KAFKA_TOPIC='p', VALUE_FORMAT='JSON');"
)


def clause(pattern: str, more: str = "", measures: str = "COUNT(*) AS n") -> str:
    """A query of matches by share."""
    return (
        f"SELECT * FROM p MATCH_RECOGNIZE (PARTITION BY share MEASURES {measures} {more}"
        f" PATTERN ({pattern}))"
    )


@pytest.fixture(scope="module")
def session() -> Session:
    found = Session(Catalog())
    outcomes(PRICES + TABLE, found)
    return found


def match_of(text: str, session: Session) -> Match:
    (statement,) = parse_script(f"CREATE STREAM o{next(NUMBERS)} AS {text};")
    started = session.execute(statement)
    assert isinstance(started, Started)
    (found,) = [step for step in started.plan.walk() if isinstance(step, Match)]
    return found


A, B, C = (ps.step(name) for name in "ABC")


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("a b", A.then(B)),
        ("a -> b", A.followed_by(B)),
        ("a => b", A.followed_by_any(B)),
        ("a | b", A | B),
        ("a+ b* c?", A.one_or_more().then(B.zero_or_more()).then(C.optional())),
        ("a{2} b{2,} c{,5}", A.times(2).then(B.at_least(2)).then(C.times(0, 5))),
        ("a+? b", A.one_or_more().reluctant().then(B)),
        ("a+ WITH GAPS b", A.one_or_more().with_gaps().then(B)),
        ("a NOT b c", A.not_next(B).then(C)),
        ("a -> NOT b -> c", A.not_followed_by(B).followed_by(C)),
        ("a {- b -} c", A.then(B.hidden()).then(C)),
    ],
)
def test_a_pattern_is_that_of_the_same_program_in_python(
    said: str, meant: PatternPart, session: Session
) -> None:
    found = match_of(clause(said), session)
    assert found.pattern == Pattern(meant.node)
    assert found.keys == ("SHARE",)


def test_conditions_and_measures_are_those_of_the_same_program_in_python(session: Session) -> None:
    found = match_of(
        clause(
            "a b+ => c) WITHIN 1 HOUR DEFINE b AS b.price < a.price,"
            " c AS c.price > FIRST(b.price, 1",
            "AFTER MATCH SKIP TO LAST b",
            "FIRST(b.price) AS one, PREV(LAST(b.price), 2) AS two, SUM(b.price) AS total,"
            " CLASSIFIER() AS step, MATCH_NUMBER() AS no, kind AS kind",
        ),
        session,
    )
    price = ps.col("PRICE")
    falls = ps.step("B", price < ps.last("A", "PRICE"))
    rises = ps.step("C", price > ps.first("B", "PRICE", offset=1))
    wanted = A.then(falls.one_or_more()).followed_by_any(rises).within("1 hour")
    assert found.pattern == wanted
    assert found.skip == Skip("last", "B")
    emit = {
        "ONE": ps.first("B", "PRICE"),
        "TOTAL": ps.sum("B", "PRICE"),
        "STEP": ps.classifier(),
        "NO": ps.match_number(),
        "KIND": ps.col("KIND"),
    }
    made = {item.name: item.expr for item in found.measures}
    assert {name: made[name] for name in emit} == {name: it.node for name, it in emit.items()}


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("", ps.skip_past_last_row()),
        ("AFTER MATCH SKIP PAST LAST ROW", ps.skip_past_last_row()),
        ("AFTER MATCH SKIP TO NEXT ROW", ps.skip_to_next_row()),
        ("AFTER MATCH SKIP TO FIRST b", ps.skip_to_first("B")),
    ],
)
def test_the_next_match_begins_where_it_does_in_python(
    said: str, meant: Skip, session: Session
) -> None:
    assert match_of(clause("a b", said), session).skip == meant


def test_rows_may_be_ordered_by_the_column_that_tells_their_time(session: Session) -> None:
    outcomes(
        "CREATE STREAM timed (k STRING KEY, moment BIGINT)"
        " WITH (KAFKA_TOPIC='timed', VALUE_FORMAT='JSON', TIMESTAMP='moment');",
        session,
    )
    query = "MATCH_RECOGNIZE (PARTITION BY LCASE(k) ORDER BY moment PATTERN (a))"
    found = match_of(f"SELECT *, 1 AS one FROM timed {query}", session)
    assert found.keys == ("KSQL_COL_0",)


def test_what_ends_a_repetition_and_what_must_not_follow(session: Session) -> None:
    found = match_of(
        "SELECT * FROM p MATCH_RECOGNIZE (PARTITION BY share MEASURES COUNT(*) AS n"
        " PATTERN (a{3,} UNTIL (price > LAST(a.price)) -> NOT b) WITHIN 5 MINUTES)",
        session,
    )
    ends = A.at_least(3).until(ps.col("PRICE") > ps.last("A", "PRICE"))
    assert found.pattern == ends.not_followed_by(B).within("5 minutes")


def run(text: str) -> Script:
    return Script(f"{PRICES} CREATE STREAM o AS {text};")


def push_all(script: Script, rows: list[tuple[int, str]]) -> list[Any]:
    found = []
    for second, (price, kind) in enumerate(rows):
        found += script.push("p", "x", {"PRICE": price, "KIND": kind}, second * 1000)
    return found


def test_a_fall_and_a_rise_give_one_row() -> None:
    script = run(
        "SELECT * FROM p MATCH_RECOGNIZE (PARTITION BY share ORDER BY ROWTIME"
        " MEASURES a.price AS high, LAST(b.price) AS low, COUNT(b.price) + 1 AS n"
        " ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW"
        " PATTERN (a b+ c) WITHIN 1 HOUR"
        " DEFINE b AS b.price < PREV(b.price), c AS UCASE(c.kind) = UCASE(LAST(a.kind)))"
    )
    found = push_all(script, [(5, "k"), (4, "k"), (3, "k"), (9, "K"), (9, ""), (9, "")])
    assert found == [(b"x", {"HIGH": 5, "LOW": 3, "N": 3}, 3000)]


@pytest.mark.parametrize("source", ["p", "(SELECT share, price, kind FROM p)"])
def test_rows_that_come_within_the_grace_period_find_their_place(source: str) -> None:
    script = run(
        f"SELECT * FROM {source} MATCH_RECOGNIZE (PARTITION BY share"
        " MEASURES b.price AS price PATTERN (a b) WITHIN 1 HOUR GRACE PERIOD 5 SECONDS"
        " DEFINE a AS kind = 'a', b AS kind = 'b')"
    )
    script.push("p", "x", {"PRICE": 2, "KIND": "b"}, 4_000)
    assert script.push("p", "x", {"PRICE": 1, "KIND": "a"}, 1_000) == []
    assert script.push("p", "x", {"PRICE": 3, "KIND": ""}, 9_500) == [(b"x", {"PRICE": 2}, 4_000)]


def test_all_rows_of_a_match_come_with_what_was_known_and_with_what_came_of_it() -> None:
    script = run(
        "SELECT share, price, n, last, step FROM p MATCH_RECOGNIZE (PARTITION BY share"
        " MEASURES RUNNING COUNT(*) AS n, FINAL price AS last, CLASSIFIER() AS step"
        " ALL ROWS PER MATCH PATTERN (a {- b -} c)"
        " DEFINE a AS kind = 'a', b AS kind = 'b', c AS kind = 'c') AS m"
    )
    found = push_all(script, [(1, "a"), (2, "b"), (3, "c"), (4, "")])
    assert [value for _, value, _ in found] == [
        {"PRICE": 1, "N": 1, "LAST": 3, "STEP": "A"},
        {"PRICE": 3, "N": 3, "LAST": 3, "STEP": "C"},
    ]


def test_matches_are_asked_for_and_joined_like_other_rows() -> None:
    script = Script(
        f"{PRICES} {TABLE} SELECT m.n, t.v FROM p MATCH_RECOGNIZE (PARTITION BY share"
        " MEASURES COUNT(*) AS n PATTERN (a a)) AS m JOIN t ON m.share = t.k EMIT CHANGES;"
    )
    script.push("t", "x", {"V": 7}, 9_000)
    assert [(row["N"], row["V"]) for row in push_all(script, [(1, ""), (2, ""), (3, "")])] == [
        (2, 7)
    ]


@pytest.mark.parametrize(
    ("said", "underlined"),
    [
        (clause("a*"), "a*"),
        (clause("a -> NOT b"), "a -> NOT b"),
        (clause("a -> NOT b c"), "c"),
        (clause("a b", "AFTER MATCH SKIP TO LAST z"), "a b"),
        (clause("a b) DEFINE z AS (price > 1"), "z"),
        (clause("a b) DEFINE a AS (z.price > 1"), "z"),
        (clause("a b) DEFINE b AS (NEXT(b.price) > 1"), "NEXT(b.price)"),
        (clause("a b", measures="SUM(a.price + b.price) AS s"), "SUM(a.price + b.price)"),
        (clause("a b", measures="FIRST() AS s"), "FIRST()"),
        (clause("a b", measures="SUM(a.kind) AS s"), "SUM(a.kind)"),
        (clause("a b", measures="CLASSIFIER(a) AS s"), "CLASSIFIER(a)"),
        (
            clause("a b) DEFINE b AS (SUBSTRING(a.kind, b.price) = 'x'"),
            "SUBSTRING(a.kind, b.price) = 'x'",
        ),
        (clause("a b", measures="COUNT(*) AS n, FIRST(price) AS n"), "PARTITION BY share"),
        (clause("a b", "ALL ROWS PER MATCH", "FIRST(price) AS price"), "PARTITION BY share"),
        (clause("a{3,2}"), "a{3,2}"),
        ("SELECT * FROM p MATCH_RECOGNIZE (ORDER BY price PATTERN (a))", "price"),
        ("SELECT * FROM p MATCH_RECOGNIZE (PATTERN (a))", "PATTERN (a)"),
        ("SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k PATTERN (a))", "PARTITION BY k"),
    ],
)
def test_a_pattern_that_cannot_be_is_underlined(said: str, underlined: str) -> None:
    error = refusal(f"{PRICES} {TABLE} CREATE STREAM o AS {said};")
    assert error.code == "SQL_PATTERN"
    assert error.hint
    *_, line, marks = error.fact.split("\n")
    assert line[marks.index("^") :].startswith(underlined)
