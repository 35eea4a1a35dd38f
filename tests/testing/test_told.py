from __future__ import annotations

from penstock.model.aggregate import Aggregate
from penstock.testing.driver import TestDriver
from penstock.testing.inline import inline_plan
from penstock.testing.told import TOLD, stored_schema, streams_of, told_by_rows, with_panes

PLAN = inline_plan(
    "p",
    {
        "streams": {
            "one": {"columns": {"k": "string", "at": "int64"}, "event_time": "at"},
            "two": {"columns": {"k": "string", "at": "int64"}, "changelog": True},
        },
        "outputs": {
            "counts": {
                "from": ["one", "two"],
                "group_by": ["k"],
                "window": {"tumbling": "1s"},
                "measures": {"n": "count"},
            }
        },
    },
    "here",
)


def test_rows_of_their_own_tell_the_watermark() -> None:
    driver = TestDriver(told_by_rows(PLAN))
    driver.push("one", [{"k": "a", "at": 5}, {"k": "a", "at": 9_000}])
    driver.push("two", {"k": "b"}, at=7)
    assert driver.rows("counts") == []
    driver.push("one", {TOLD: 1_000})
    driver.push("two", {TOLD: 1_000})
    assert sorted((row["k"], row["n"]) for row in driver.rows("counts")) == [("a", 1), ("b", 1)]
    assert driver.watermark == 1_000


def test_results_tell_their_pane_in_columns() -> None:
    relation = with_panes(PLAN).sinks[0].relation
    assert isinstance(relation, Aggregate)
    assert relation.panes


def test_the_topic_of_a_changelog_has_weights() -> None:
    one, two = streams_of(PLAN)
    assert stored_schema(one).names == ("k", "at")
    assert stored_schema(two).names == ("k", "at", "_weight")
