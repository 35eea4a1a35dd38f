from __future__ import annotations

import pytest

from penstock.model.relation import Relation
from penstock.model.upsert_key import upsert_keys
from penstock.testing.inline import inline_plan

STREAM = {"columns": {"k": "string", "n": "int64", "at": "int64"}, "event_time": "at"}


def relation(**output: object) -> Relation:
    described = {"streams": {"in": STREAM}, "outputs": {"out": {"from": "in", **output}}}
    return inline_plan("p", described, "here").sinks[0].relation


@pytest.mark.parametrize(
    ("output", "keys"),
    [
        ({"group_by": ["k"], "measures": {"n": "count"}}, ("k",)),
        ({"group_by": [], "measures": {"n": "count"}}, ()),
        (
            {"group_by": ["k"], "window": {"tumbling": "1m"}, "measures": {"n": "count"}},
            ("k", "window_start", "window_end"),
        ),
        ({"measures": {"n": "count"}, "refine": "discarding", "window": "global"}, None),
        ({"dedup": {"keys": ["k"]}}, None),
        ({}, None),
    ],
)
def test_newer_results_replace_older_ones_by_key_and_window(
    output: dict[str, object], keys: tuple[str, ...] | None
) -> None:
    assert upsert_keys(relation(**output)) == keys
