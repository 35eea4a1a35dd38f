from __future__ import annotations

from hypothesis import given

from penstock.log.assign.range import assign_range
from penstock.log.assign.subscription import Subscription
from tests.log.assign import groups
from tests.log.assign.groups import part, reads, shown


def test_the_first_members_take_the_remainders_of_every_topic() -> None:
    members = {"m1": reads("t", "u"), "m2": reads("t", "u"), "m3": reads("t")}
    assert shown(assign_range({"t": 5, "u": 3}, members)) == {
        "m1": "t-0 t-1 u-0 u-1",
        "m2": "t-2 t-3 u-2",
        "m3": "t-4",
    }


def test_static_members_keep_their_place_under_another_member_id() -> None:
    before = assign_range({"t": 3}, {"x": reads("t", instance_id="1"), "y": reads("t")})
    after = assign_range({"t": 3}, {"z": reads("t", instance_id="1"), "a": reads("t")})
    assert before["x"] == after["z"]


@given(topics=groups.topics, members=groups.members)
def test_shares_of_each_topic_are_runs_that_differ_by_one_at_most(
    topics: dict[str, int], members: dict[str, Subscription]
) -> None:
    given = assign_range(topics, {name: reads(*one.topics) for name, one in members.items()})
    for topic in topics:
        runs = [
            [item.partition for item in given[name] if item.topic == topic]
            for name, one in members.items()
            if topic in one.topics
        ]
        assert all(run == list(range(run[0], run[-1] + 1)) for run in runs if run)
        sizes = [len(run) for run in runs] or [0]
        assert max(sizes) - min(sizes) <= 1


def test_a_member_gets_the_partitions_of_its_rack() -> None:
    members = {"m1": reads("t", rack="a"), "m2": reads("t", rack="b")}
    racks = {part(f"t-{number}"): ["b" if number < 2 else "a"] for number in range(4)}
    assert shown(assign_range({"t": 4}, members, racks)) == {"m1": "t-2 t-3", "m2": "t-0 t-1"}


def test_an_even_share_comes_before_the_rack() -> None:
    members = {"m1": reads("t", rack="a"), "m2": reads("t", rack="b")}
    racks = {part(f"t-{number}"): ["a" if number else "b"] for number in range(4)}
    assert shown(assign_range({"t": 4}, members, racks)) == {"m1": "t-1 t-2", "m2": "t-0 t-3"}


def test_topics_alike_stay_together_even_where_racks_differ() -> None:
    members = {"m1": reads("t", "u", rack="a"), "m2": reads("t", "u", rack="b")}
    racks = {part("t-0"): ["b"], part("t-1"): ["a"], part("u-0"): ["a"], part("u-1"): ["b"]}
    assert shown(assign_range({"t": 2, "u": 2}, members, racks)) == {
        "m1": "t-0 u-0",
        "m2": "t-1 u-1",
    }
    racks |= {part("u-0"): ["b"], part("u-1"): ["a"]}
    assert shown(assign_range({"t": 2, "u": 2}, members, racks)) == {
        "m1": "t-1 u-1",
        "m2": "t-0 u-0",
    }
