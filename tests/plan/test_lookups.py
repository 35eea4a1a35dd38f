"""What the planner says of looks into tables."""

from __future__ import annotations

from datetime import timedelta

import pytest

from penstock.model.join_bound import AsOf
from penstock.model.plan import Plan, Sink
from penstock.model.relation import Relation
from penstock.model.versions import Versions
from penstock.plan.explain import explain
from penstock.plan.fingerprint import state_fingerprint
from penstock.plan.planner import plan
from tests.plan.rules.test_look_up_changes import a_join, a_stream, a_table

MINUTE = timedelta(minutes=1)


def written(relation: Relation) -> Plan:
    return Plan("p", (Sink(relation, "out"),))


@pytest.mark.parametrize(
    ("relation", "said"),
    [
        (a_join(a_table(), AsOf()), "left join on k: does not wait for it, no row is late"),
        (
            a_join(a_table(), AsOf("event time", keep=MINUTE)),
            "left join on k: rows more than 1m behind it are late",
        ),
        (
            a_join(a_table(), AsOf("event time", wait=True)),
            "left join on k: rows wait for it; rows more than 0s behind it are late",
        ),
        (
            Versions(a_table(), ("k",), MINUTE),
            "versions of rows by k: a version is final 1m after its end",
        ),
    ],
)
def test_it_is_said_what_waits_for_the_watermark(relation: Relation, said: str) -> None:
    assert said in explain(written(relation), stage="watermark")


def test_it_is_said_what_is_remembered() -> None:
    versions = explain(written(Versions(a_table(), ("k",), MINUTE)), stage="state")
    assert "the versions of each key" in versions
    assert "a version leaves 1m after its end" in versions
    taking_back = a_join(a_table(), AsOf())
    changed = Versions(a_table(), ("k",))
    from_versions = type(taking_back)(
        changed, a_table(), (("k", "k"),), "left", AsOf(), taking_back.columns
    )
    said = explain(written(from_versions), stage="state")
    assert "what rows of the left side were answered with" in said


def test_another_time_to_keep_versions_goes_on_with_the_state_there_is() -> None:
    def mark(keep: timedelta, *, wait: bool = False) -> str:
        bound = AsOf("event time", wait=wait, keep=keep)
        (keyed,) = plan(written(a_join(a_table(), bound))).operators
        return state_fingerprint(keyed)

    assert mark(MINUTE) == mark(2 * MINUTE)
    assert mark(MINUTE) != mark(MINUTE, wait=True)


def test_versions_of_another_key_are_another_state() -> None:
    marks = {
        state_fingerprint(plan(written(Versions(a_stream(), keys))).operators[0])
        for keys in (("k",), ("v",))
    }
    assert len(marks) == 2
