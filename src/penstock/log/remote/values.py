"""The values of the log's port as JSON: what is a tuple there is a list here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any, TypeAlias

from penstock.log.port import GroupInfo, GroupMemberInfo, ReadLimit, Rebalance
from penstock.log.record import TopicPartition

Json: TypeAlias = Any


def encode_offsets(offsets: Mapping[TopicPartition, int]) -> Json:
    """Offsets of partitions as [topic, partition, offset]."""
    return [[topic, partition, offset] for (topic, partition), offset in offsets.items()]


def decode_offsets(items: Json) -> dict[TopicPartition, int]:
    """Read what `encode_offsets` gave."""
    return {TopicPartition(topic, partition): offset for topic, partition, offset in items}


def decode_places(items: Json) -> tuple[TopicPartition, ...]:
    """Read partitions given as [topic, partition]."""
    return tuple(TopicPartition(*item) for item in items)


def encode_places(places: Iterable[TopicPartition]) -> Json:
    """Partitions as [topic, partition]."""
    return [[topic, partition] for topic, partition in places]


def encode_limit(limit: ReadLimit) -> Json:
    """A read's limit as an object."""
    return asdict(limit)


def decode_limit(document: Json) -> ReadLimit:
    """Read what `encode_limit` gave."""
    columns = document["columns"]
    return ReadLimit(**{**document, "columns": None if columns is None else tuple(columns)})


def encode_rebalance(change: Rebalance | None) -> Json:
    """What a member is to give up and was given; nothing where nothing changed."""
    return None if change is None else [encode_places(places) for places in change]


def decode_rebalance(items: Json) -> Rebalance | None:
    """Read what `encode_rebalance` gave."""
    return None if items is None else Rebalance(*(frozenset(decode_places(part)) for part in items))


def encode_group(info: GroupInfo) -> Json:
    """A group's view as an object."""
    members = [member._asdict() for member in info.members]
    return {**info._asdict(), "members": members, "committed": encode_offsets(info.committed)}


def decode_group(document: Json) -> GroupInfo:
    """Read what `encode_group` gave."""
    members = tuple(_member(**member) for member in document["members"])
    committed = decode_offsets(document["committed"])
    return GroupInfo(**{**document, "members": members, "committed": committed})


def _member(*, topics: Json, assigned: Json, owned: Json, **rest: Json) -> GroupMemberInfo:
    return GroupMemberInfo(
        topics=tuple(topics),
        assigned=decode_places(assigned),
        owned=decode_places(owned),
        **rest,
    )
