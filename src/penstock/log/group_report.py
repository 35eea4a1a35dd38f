"""How far groups have read, and where they would begin."""

from __future__ import annotations

from typing import Any

from penstock.errors import OffsetError
from penstock.log.port import GroupInfo, Log
from penstock.log.position import Start, start_offset
from penstock.log.record import TopicPartition


def group_targets(
    log: Log, topic: str, partition: int | None, place: Start
) -> dict[TopicPartition, int]:
    """Give what a group would read next of a topic if it were set to a place."""
    numbers = range(log.topic(topic).partitions) if partition is None else [partition]
    targets = {}
    for number in numbers:
        item = TopicPartition(topic, number)
        bounds = log.bounds(*item)
        offset = start_offset(log, item, place)
        if not bounds.start <= offset <= bounds.end:
            raise OffsetError(
                "OFFSET_RANGE",
                f'offset {offset} of partition "{item}" is outside {bounds.start} to {bounds.end}',
                hint="Choose one within, or earliest or latest; --partition sets one partition.",
            )
        targets[item] = offset
    return targets


def group_summary(log: Log, group: GroupInfo) -> dict[str, Any]:
    """Say who is in a group, what it reads, and how far it is behind."""
    partitions = group_partitions(log, group)
    lags = [row["lag"] for row in partitions if isinstance(row["lag"], int)]
    topics = sorted({str(row["topic"]) for row in partitions})
    return {
        "group": group.name,
        "members": len(group.members),
        "topics": topics,
        "lag": sum(lags) if lags else None,
    }


def group_partitions(log: Log, group: GroupInfo) -> list[dict[str, Any]]:
    """One row for each partition that is read or has an offset."""
    existing = log.topics()
    owners = {place: member.member_id for member in group.members for place in member.assigned}
    subscribed = {topic for member in group.members for topic in member.topics}
    places = {*group.committed, *owners} | {
        TopicPartition(topic, number)
        for topic in subscribed
        if topic in existing
        for number in range(log.topic(topic).partitions)
    }
    rows: list[dict[str, object]] = []
    for place in sorted(places):
        committed = group.committed.get(place)
        end = log.bounds(*place).end if place.topic in existing else None
        known = committed is not None and end is not None
        rows.append(
            {
                "topic": place.topic,
                "partition": place.partition,
                "committed": committed,
                "end": end,
                "lag": max(end - committed, 0) if known else None,  # type: ignore[operator]
                "member": owners.get(place),
            }
        )
    return rows
