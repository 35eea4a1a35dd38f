"""Joins of SQL are the joins that the same program in Python has."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

import penstock as ps
from penstock.front.sql.catalog import Catalog
from penstock.front.sql.parse import parse_script
from penstock.front.sql.statement import Session, Started
from penstock.model.join import Join
from penstock.model.physical import Stateful
from penstock.model.plan import Plan
from penstock.model.process import Process
from penstock.model.relation import Relation
from tests.front.sql.script import outcomes

NUMBERS = count()
SOURCES = """
CREATE STREAM s (k STRING KEY, v INT) WITH (KAFKA_TOPIC='s', VALUE_FORMAT='JSON');
CREATE STREAM r (k STRING KEY, w INT) WITH (KAFKA_TOPIC='r', VALUE_FORMAT='JSON');
CREATE TABLE t (k STRING PRIMARY KEY, f STRING) WITH (KAFKA_TOPIC='t', VALUE_FORMAT='JSON');
CREATE TABLE u (k STRING PRIMARY KEY, x INT) WITH (KAFKA_TOPIC='u', VALUE_FORMAT='JSON');
"""


@pytest.fixture(scope="module")
def session() -> Session:
    found = Session(Catalog())
    outcomes(SOURCES, found)
    return found


@pytest.fixture(scope="module")
def app() -> dict[str, Any]:
    app = ps.App("same")
    value = {"k": "string", "v": "int64"}
    return {
        "s": app.stream("s", schema=value),
        "r": app.stream("r", schema=value),
        "t": app.table("t", key="k", schema={"k": "string", "f": "string"}),
        "u": app.table("u", key="k", schema={"k": "string", "x": "int64"}),
    }


def plan_of(query: str, kind: str, session: Session) -> Plan:
    (statement,) = parse_script(f"CREATE {kind} o{next(NUMBERS)} AS {query};")
    started = session.execute(statement)
    assert isinstance(started, Started)
    return started.plan


def joins_of(plan: Plan | Relation) -> list[tuple[Any, ...]]:
    """Say what joins mean, without the names of columns."""
    return [
        (step.how, step.bound, step.eager, step.keep_late, len(step.on))
        for step in plan.walk()
        if isinstance(step, Join)
    ]


STREAMS = [
    ("JOIN r WITHIN 1 MINUTE GRACE PERIOD 1 SECOND", {"within": "1 minute"}),
    (
        "LEFT JOIN r WITHIN 1 MINUTE",
        {"within": "1 minute", "how": "left", "eager": True, "keep_late": "1 day"},
    ),
    (
        "FULL JOIN r WITHIN (1 SECOND, 2 SECONDS) GRACE PERIOD 1 SECOND",
        {"within": ("1s", "2s"), "how": "full"},
    ),
    ("SEMI JOIN r WITHIN 1 MINUTE", {"within": "1 minute", "how": "semi"}),
    ("ANTI JOIN r WITHIN 1 MINUTE", {"within": "1 minute", "how": "anti"}),
    (
        "RIGHT JOIN r WITHIN TUMBLING (SIZE 9 SECONDS)",
        {"window": ps.tumbling("9s"), "how": "right"},
    ),
    ("JOIN r WITHIN SESSION (9 SECONDS)", {"window": ps.session("9s")}),
    (
        "JOIN r WITHIN HOPPING (SIZE 9 SECONDS, ADVANCE BY 3 SECONDS)",
        {"window": ps.hopping("9s", "3s")},
    ),
]


@pytest.mark.parametrize(("said", "meant"), STREAMS)
def test_streams_are_joined_as_in_python(
    said: str, meant: dict[str, Any], session: Session, app: dict[str, Any]
) -> None:
    key = "r.k" if said.startswith("RIGHT") else "ROWKEY" if said.startswith("FULL") else "s.k"
    plan = plan_of(f"SELECT {key}, v FROM s {said} ON s.k = r.k", "STREAM", session)
    same = app["s"].join(app["r"], on="k", **meant)
    assert joins_of(plan) == joins_of(same.relation)


LOOKED_UP = [
    ("JOIN t", {}),
    ("LEFT JOIN t", {"how": "left"}),
    ("ANTI JOIN t", {"how": "anti"}),
    ("ASOF JOIN t BY ARRIVAL", {"as_of": "arrival"}),
    ("ASOF JOIN t", {"as_of": "event time", "keep": "1 day"}),
    (
        "LEFT ASOF JOIN t BY EVENT TIME WAITING KEEP 1 HOUR",
        {"as_of": "event time", "how": "left", "wait": True, "keep": "1 hour"},
    ),
    (
        "ASOF LEFT JOIN t BY EVENT TIME CORRECTED KEEP 1 DAY",
        {"as_of": "event time", "how": "left", "corrected": True, "keep": "1 day"},
    ),
]


@pytest.mark.parametrize(("said", "meant"), LOOKED_UP)
def test_a_stream_looks_a_table_up_as_in_python(
    said: str, meant: dict[str, Any], session: Session, app: dict[str, Any]
) -> None:
    plan = plan_of(f"SELECT s.k, v FROM s {said} ON s.k = t.k", "STREAM", session)
    same = app["s"].join(app["t"], on="k", **meant)
    assert joins_of(plan) == joins_of(same.relation)


@pytest.mark.parametrize("how", ["inner", "left", "right", "full", "semi", "anti"])
def test_tables_are_joined_as_in_python(how: str, session: Session, app: dict[str, Any]) -> None:
    key = {"full": "ROWKEY", "right": "u.k"}.get(how, "t.k")
    plan = plan_of(f"SELECT {key}, f FROM t {how} JOIN u ON t.k = u.k", "TABLE", session)
    same = app["t"].join(app["u"], on="k", how=how)
    assert joins_of(plan) == joins_of(same.relation)
    kinds = [type(step).__name__ for step in plan.walk() if isinstance(step, Stateful)]
    assert kinds == ["Latest", "Latest", "Join", "Settle"]


def test_several_tables_are_joined_without_making_tables_in_between(
    session: Session, app: dict[str, Any]
) -> None:
    plan = plan_of(
        "SELECT t.k, f, u.x, y.x FROM t LEFT JOIN u ON t.f = u.k JOIN u y ON t.k = y.k",
        "TABLE",
        session,
    )
    first = app["t"].join(app["u"], on={"f": "k"}, how="left")
    same = first.join(app["u"], on="k")
    assert joins_of(plan) == joins_of(same.relation)
    kinds = [type(step).__name__ for step in plan.walk() if isinstance(step, Stateful)]
    assert kinds == ["Latest", "Latest", "Join", "Latest", "Join", "Settle"]


def test_no_join_is_computed_row_by_row_in_python(session: Session) -> None:
    plan = plan_of("SELECT t.k, f, x FROM t JOIN u ON t.f = u.k", "TABLE", session)
    assert not any(isinstance(step, Process) for step in plan.walk())
