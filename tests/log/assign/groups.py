"""Groups of any kind, and what must hold for whatever they are assigned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hypothesis import strategies as st

from penstock.log.assign.subscription import Assignment, Subscription
from penstock.log.record import TopicPartition

TOPICS = ("a", "b", "c", "d")
RACKS = ("r1", "r2", "r3")

topics = st.dictionaries(st.sampled_from(TOPICS), st.integers(0, 6))
names = st.sampled_from([f"m{number}" for number in range(8)])
partitions = st.builds(TopicPartition, st.sampled_from(TOPICS), st.integers(0, 5))
racks = st.dictionaries(partitions, st.sets(st.sampled_from(RACKS)))


any_topics = st.lists(st.sampled_from([*TOPICS, "gone"]), unique=True).map(tuple)


def subscriptions(
    wants: st.SearchStrategy[tuple[str, ...]] = any_topics,
) -> st.SearchStrategy[Subscription]:
    """Members that claim anything, in any generation."""
    return st.builds(
        Subscription,
        topics=wants,
        instance_id=st.none(),
        owned=st.lists(partitions, max_size=6).map(tuple),
        generation=st.integers(-1, 3),
        rack=st.none() | st.sampled_from(RACKS),
    )


members = st.dictionaries(names, subscriptions(), min_size=1)
alike = st.lists(st.sampled_from(TOPICS), unique=True, min_size=1).flatmap(
    lambda wants: st.dictionaries(names, subscriptions(st.just(tuple(wants))), min_size=1)
)


def reads(*wanted: str, **fields: object) -> Subscription:
    """A member that wants some topics."""
    return replace(Subscription(topics=wanted), **fields)  # type: ignore[arg-type]


def part(name: str) -> TopicPartition:
    """Read `topic-number`."""
    topic, _, number = name.rpartition("-")
    return TopicPartition(topic, int(number))


def parts(text: str) -> tuple[TopicPartition, ...]:
    """Read `topic-number topic-number ...`."""
    return tuple(map(part, text.split()))


def shown(assignment: Assignment) -> dict[str, str]:
    """Write an assignment as `topic-number topic-number ...`, sorted."""
    return {
        member: " ".join(map(str, sorted(partitions))) for member, partitions in assignment.items()
    }


def wanted_partitions(
    topics: Mapping[str, int], members: Mapping[str, Subscription]
) -> set[TopicPartition]:
    """All partitions that someone reads."""
    return {
        TopicPartition(topic, number)
        for topic in {topic for member in members.values() for topic in member.topics}
        for number in range(topics.get(topic, 0))
    }


def check_valid(
    topics: Mapping[str, int], members: Mapping[str, Subscription], assignment: Assignment
) -> None:
    """Every partition that someone reads is given exactly once, to one of its readers."""
    assert assignment.keys() == members.keys()
    held = [partition for partitions in assignment.values() for partition in partitions]
    assert len(held) == len(set(held))
    assert set(held) == wanted_partitions(topics, members)
    for member, given in assignment.items():
        assert {partition.topic for partition in given} <= set(members[member].topics)


def check_even(members: Mapping[str, Subscription], assignment: Assignment) -> None:
    """No partition has a reader that holds at least two fewer than its holder."""
    for given in assignment.values():
        for topic in {partition.topic for partition in given}:
            for member, subscription in members.items():
                if topic in subscription.topics:
                    assert len(given) <= len(assignment[member]) + 1
