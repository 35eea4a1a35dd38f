from __future__ import annotations

from hypothesis import given

from penstock.log.assign.round_robin import assign_round_robin
from penstock.log.assign.subscription import Subscription
from tests.log.assign import groups
from tests.log.assign.groups import reads, shown


def test_partitions_are_dealt_in_turn_over_all_topics() -> None:
    members = {"m1": reads("t", "u"), "m2": reads("t", "u")}
    assert shown(assign_round_robin({"t": 3, "u": 3}, members)) == {
        "m1": "t-0 t-2 u-1",
        "m2": "t-1 u-0 u-2",
    }


def test_a_member_that_does_not_read_a_topic_is_passed_over() -> None:
    members = {"m1": reads("t"), "m2": reads("t", "u"), "m3": reads("t")}
    assert shown(assign_round_robin({"t": 3, "u": 2}, members)) == {
        "m1": "t-0",
        "m2": "t-1 u-0 u-1",
        "m3": "t-2",
    }


@given(topics=groups.topics, members=groups.alike)
def test_equal_subscriptions_give_sizes_that_differ_by_one_at_most(
    topics: dict[str, int], members: dict[str, Subscription]
) -> None:
    sizes = [len(given) for given in assign_round_robin(topics, members).values()]
    assert max(sizes) - min(sizes) <= 1
