from __future__ import annotations

import pytest

from penstock.model.join import Join
from penstock.model.join_bound import Interval, Lasting
from tests.front.sql.script import Script, refusal

SOURCES = """
CREATE STREAM sale (id STRING KEY, ends BIGINT, kind STRING)
  WITH (KAFKA_TOPIC='sale', VALUE_FORMAT='JSON');
CREATE STREAM offer (id STRING KEY, price INT) WITH (KAFKA_TOPIC='offer', VALUE_FORMAT='JSON');
"""
MET = "o.ROWTIME BETWEEN s.ROWTIME AND s.ends"


def join_of(script: Script) -> Join:
    (found,) = (keyed.relation for keyed in script.driver.physical.operators)
    assert isinstance(found, Join)
    return found


@pytest.mark.parametrize(
    ("sources", "condition", "side"),
    [
        ("sale s JOIN offer o", MET, "left"),
        ("offer o JOIN sale s", MET, "right"),
        ("sale s JOIN offer o", "s.ROWTIME <= o.ROWTIME AND s.ends >= o.ROWTIME", "left"),
    ],
)
def test_rows_are_met_while_they_last(sources: str, condition: str, side: str) -> None:
    query = f"SELECT s.id, price FROM {sources} ON s.id = o.id AND {condition}"
    script = Script(f"{SOURCES} CREATE STREAM o AS {query};")
    join = join_of(script)
    assert isinstance(join.bound, Lasting)
    assert join.bound.side == side
    assert join.condition is None
    script.push("sale", "a", {"ENDS": 50, "KIND": "x"}, 10)
    for time in (9, 51):
        assert script.push("offer", "a", {"PRICE": time}, time) == []
    # What lies behind the latest row of both is late.
    script = Script(f"{SOURCES} CREATE STREAM o AS {query};")
    script.push("sale", "a", {"ENDS": 50, "KIND": "x"}, 10)
    assert [row[1] for row in script.push("offer", "a", {"PRICE": 7}, 50)] == [{"PRICE": 7}]


def test_further_conditions_of_two_streams_are_asked_of_each_pair() -> None:
    query = "FROM sale s JOIN offer o WITHIN 1 HOUR ON s.id = o.id AND price > 3 AND kind <> 'y'"
    script = Script(f"{SOURCES} CREATE STREAM o AS SELECT s.id, price {query};")
    assert isinstance(join_of(script).bound, Interval)
    script.push("sale", "a", {"ENDS": 50, "KIND": "x"}, 10)
    assert script.push("offer", "a", {"PRICE": 2}, 10) == []
    assert [row[1] for row in script.push("offer", "a", {"PRICE": 4}, 10)] == [{"PRICE": 4}]


def test_an_end_that_does_not_belong_to_it_is_asked_as_well() -> None:
    query = (
        "FROM sale s JOIN offer o ON s.id = o.id AND o.ROWTIME >= s.ROWTIME AND o.ROWTIME < s.ends"
    )
    script = Script(f"{SOURCES} CREATE STREAM o AS SELECT s.id, price {query};")
    assert join_of(script).condition is not None
    script.push("sale", "a", {"ENDS": 50, "KIND": "x"}, 10)
    assert script.push("offer", "a", {"PRICE": 2}, 50) == []


@pytest.mark.parametrize(
    "clause",
    [
        "JOIN offer o ON s.id = o.id AND price > 3",
        "JOIN offer o ON s.id = o.id AND o.ROWTIME >= s.ROWTIME",
        f"LEFT JOIN offer o ON s.id = o.id AND {MET}",
        "JOIN offer o ON s.id = o.id AND o.ROWTIME BETWEEN s.ROWTIME AND s.kind",
    ],
)
def test_without_a_bound_two_streams_are_not_joined(clause: str) -> None:
    error = refusal(f"{SOURCES} CREATE STREAM o AS SELECT s.id, price FROM sale s {clause};")
    assert error.code in ("SQL_JOIN", "SQL_OPERATOR")
