"""Checks of the facts about choosing a partition: the hash and the partitioners."""

from __future__ import annotations

import itertools
import re
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from penstock.errors import TopicError
from penstock.log.murmur2 import murmur2, murmur2_column, partition_column, partition_of_key
from penstock.log.partitioner import (
    DefaultPartitioner,
    Partitioner,
    RoundRobin,
    partitioner_named,
)
from tests.conformance.runner import Case, Check, holds, same

Fields: TypeAlias = Mapping[str, Any]

_POSITIVE = 0x7FFFFFFF
_MANY = 200
_SAMPLE = [f"key-{number}".encode() for number in range(50)]
_HASHES: Mapping[str, Callable[[bytes], int]] = {
    "CRC32": zlib.crc32,
    "murmur2": lambda key: murmur2(key) & _POSITIVE,
}


def check_murmur2(case: Case) -> None:
    """The hash of one key, alone and in a column, in each notation that is given."""
    key = _key(case.given)
    shown = {
        "hash_signed": murmur2(key),
        "hash_hex": f"{murmur2(key) & 0xFFFFFFFF:08x}",
        "positive": murmur2(key) & _POSITIVE,
    }
    same(shown, shown | case.expect)
    same(_of_each_in_a_column(key, murmur2_column), {shown["hash_signed"]}, "hash in a column")


def check_partition_of_key(case: Case) -> None:
    """The partition of one key, alone, in a column and through the default partitioner."""
    key, partitions = _key(case.given), case.given["partitions"]
    wanted = case.expect["partition"]
    same(partition_of_key(key, partitions), wanted)
    same(murmur2(key) & _POSITIVE, case.expect.get("positive", murmur2(key) & _POSITIVE))
    in_column = _of_each_in_a_column(key, lambda keys: partition_column(keys, partitions))
    same(in_column, {wanted}, "partition in a column")
    same(_send(DefaultPartitioner(), [key], partitions), [wanted], "choice of the partitioner")


def check_partition_rule(case: Case) -> None:
    """What another client does by default, and which of our partitioners agrees with it."""
    expect = dict(case.expect)
    usual = expect.pop("default_partitioner")
    hashed = _HASHES[expect.pop("hash")]
    like_java = expect.pop("java_compatible_choice")
    same(_send(_named(usual), _SAMPLE, 17), [hashed(key) % 17 for key in _SAMPLE])
    same(_send(_named(like_java), _SAMPLE, 17), _send(DefaultPartitioner(), _SAMPLE, 17))
    text = expect.pop("null_or_empty_key", "")
    for name in re.findall(r"\b[a-z0-9]+_random\b", text.partition(":")[0]):
        same(len(set(_send(_named(name), [None] * _MANY, 5))), 5, f"null keys by {name}")
    taken_for_null = set(re.findall(r"(\w+_random) also treats the empty key as null", text))
    for name in (usual, like_java):
        used = len(set(_send(_named(name), [b""] * _MANY, 5)))
        same(used, 5 if name in taken_for_null else 1, f"empty keys by {name}")
    same(sorted(expect), [], "expectations without a check")


def check_partitioner_behaviour(case: Case) -> None:
    """What a partitioner does over several records; the fields that are given tell which."""
    for fields, behaviour in _BEHAVIOURS:
        if fields <= case.given.keys():
            behaviour(case.given, case.expect)
            return
    same(sorted(case.given), [], "fields that no behaviour has")


def _adaptive(given: Fields, expect: Fields) -> None:
    queued = dict(enumerate(given["queue_sizes_by_partition"]))
    weights = [max(queued.values()) + 1 - size for size in queued.values()]
    same(weights, expect.get("weights", weights), "weights")
    partitioner = DefaultPartitioner(
        batch_bytes=given["sticky_batch_size"], draw=itertools.count().__next__
    )
    partitioner.choice("t").weigh(queued, len(queued))
    rounds = sum(expect["times_chosen"]) // sum(weights)
    chosen = Counter(_send(partitioner, [None] * sum(weights) * rounds, len(queued)))
    same([chosen[partition] for partition in queued], expect["times_chosen"])


def _sticky_sizes(given: Fields, expect: Fields) -> None:
    sizes = given["null_key_records_of_size"]
    for _ in range(_MANY):
        partitioner = DefaultPartitioner(batch_bytes=given["sticky_batch_size"])
        chosen = _send(partitioner, [None] * len(sizes), len(given["partitions"]), sizes=sizes)
        together = {chosen[record - 1] for record in expect["same_partition_for_records"]}
        same(len(together), 1, "partitions of a batch")
        for name, text in expect.items():
            if match := re.fullmatch(r"record_(\d+)", name):
                same(chosen[int(match[1]) - 1] not in together, _tells_of_change(name, text), name)


def _sticky_use(given: Fields, expect: Fields) -> None:
    partitioner = DefaultPartitioner(batch_bytes=given["sticky_batch_size"])
    chosen = _send_one_by_one(
        partitioner, given["null_key_records"], len(given["partitions"]), _available(given)
    )
    used = expect.get("partitions_used", set(chosen) - set(expect.get("never", ())))
    same(sorted(set(chosen)), sorted(used))


def _sticky_batch_sizes(given: Fields, expect: Fields) -> None:
    sizes = given["sticky_batch_size"]
    for size in sizes if isinstance(sizes, list) else [sizes]:
        try:
            DefaultPartitioner(batch_bytes=size)
        except TopicError:
            same("error", expect[str(size)], f"batch size {size}")
        else:
            same("ok", expect[str(size)], f"batch size {size}")


def _round_robin(given: Fields, expect: Fields) -> None:
    partitions = given["partitions"]
    count = len(partitions) if isinstance(partitions, list) else partitions
    chosen = Counter(_send_one_by_one(RoundRobin(), given["records"], count, _available(given)))
    same({str(partition): chosen[partition] for partition in range(count)}, expect["counts"])


def _round_robin_topics(given: Fields, expect: Fields) -> None:
    """Records to one topic in between do not disturb the turns of another."""
    text = given["records"]
    count, key = re.findall(r"(\d+) to topicA with key (\S+?);", text)[0]
    between = {int(number) for number in re.findall(r"\d+", text.partition("after records")[2])}
    keys = [None if key == "None" else key.strip("'").encode()]
    partitioner = RoundRobin()
    chosen: Counter[int] = Counter()
    for record in range(int(count)):
        chosen.update(_send(partitioner, keys, len(given["topicA_partitions"]), topic="a"))
        if record in between:
            _send(partitioner, keys, len(given["topicB_partitions"]), topic="b")
    wanted = {int(name): times for name, times in expect["topicA_counts"].items()}
    same(dict(chosen), wanted)


def _keyed(given: Fields, expect: Fields) -> None:
    keys = [key.encode() for key in given["keys"]]
    alone = [partition_of_key(key, given["partitions"]) for key in keys]
    chosen = _send(DefaultPartitioner(), keys, given["partitions"])
    same(chosen == alone, expect["same_as_default_partitioner"])


def _topics_apart(given: Fields, expect: Fields) -> None:
    """What happens to one topic leaves the choice for the other as it was."""
    moved, still = given["topics"]
    holds(f"new batch on topic {moved}" in given["event"], "the event is a new batch")
    for _ in range(_MANY):
        partitioner = DefaultPartitioner()
        before = {topic: _send(partitioner, [None], 10, topic=topic)[0] for topic in (moved, still)}
        partitioner.choice(moved).on_new_batch(before[moved], 10)
        after = _send(partitioner, [None], 10, topic=still)[0]
        same(after != before[still], _tells_of_change("", expect[f"topic_{still}"]), "change")


def _event(given: Fields, expect: Fields) -> None:
    """Records, then an event, then a record: the choice changed or did not."""
    partitions = given["partitions"]
    count = len(partitions) if isinstance(partitions, list) else partitions
    for _ in range(_MANY):
        partitioner = DefaultPartitioner()
        choice = partitioner.choice("t")
        (before,) = set(_send_one_by_one(partitioner, 20, count))
        available: list[int] | None = None
        if "unavailable" in given["event"]:
            available = [partition for partition in range(count) if partition != before]
        elif re.search(r"no longer current|stale|old", given["event"]):
            choice.on_new_batch((before + 1) % count, count)
        else:
            holds("new batch" in given["event"], "the event is a new batch")
            choice.on_new_batch(before, count)
        (after,) = _send(partitioner, [None], count, available=available)
        for name, wanted in expect.items():
            if type(wanted) is int:
                same(after, wanted, "next partition")
            elif name != "before":
                same(after != before, _tells_of_change(name, wanted), "change")


def _picks(given: Fields, expect: Fields) -> None:
    partitions = given["partitions"]
    count = len(partitions) if isinstance(partitions, list) else partitions
    choice = DefaultPartitioner().choice("t")
    chosen = {
        choice.pick(count, given["available"], avoid=given.get("avoid"))
        for _ in range(given["picks"])
    }
    same(sorted(chosen), sorted(expect["observed"]))


_BEHAVIOURS: Sequence[tuple[frozenset[str], Callable[[Fields, Fields], None]]] = (
    (frozenset({"queue_sizes_by_partition", "sticky_batch_size"}), _adaptive),
    (frozenset({"sticky_batch_size", "null_key_records_of_size"}), _sticky_sizes),
    (frozenset({"sticky_batch_size", "null_key_records"}), _sticky_use),
    (frozenset({"sticky_batch_size"}), _sticky_batch_sizes),
    (frozenset({"topicA_partitions", "records"}), _round_robin_topics),
    (frozenset({"partitions", "records"}), _round_robin),
    (frozenset({"partitions", "keys"}), _keyed),
    (frozenset({"topics", "event"}), _topics_apart),
    (frozenset({"partitions", "event"}), _event),
    (frozenset({"partitions", "available", "picks"}), _picks),
)


def _key(given: Fields) -> bytes:
    return bytes.fromhex(given["key_hex"]) if "key_hex" in given else given["key_text"].encode()


def _of_each_in_a_column(key: bytes, function: Callable[[pa.Array], Any]) -> set[int]:
    """Hash a key in a column by itself, and among enough alike to be hashed together."""
    alone = function(pa.array([key], type=pa.binary()))
    among = function(pa.array([b"another", *[key] * 40, None], type=pa.large_binary()))
    return {int(value) for value in (*alone, *among[1:-1])}


def _named(name: str) -> Partitioner:
    return partitioner_named(name.replace("_", "-"))


def _send(
    partitioner: Partitioner,
    keys: Sequence[bytes | None],
    partitions: int,
    *,
    topic: str = "t",
    sizes: Sequence[int] | None = None,
    available: Sequence[int] | None = None,
) -> list[int]:
    column = pa.array(keys, type=pa.binary())
    bytes_of_each = np.array(sizes if sizes is not None else [1] * len(keys), dtype=np.int64)
    return [
        int(partition)
        for partition in partitioner.partition(topic, column, bytes_of_each, partitions, available)
    ]


def _send_one_by_one(
    partitioner: Partitioner, count: int, partitions: int, available: Sequence[int] | None = None
) -> list[int]:
    return [_send(partitioner, [None], partitions, available=available)[0] for _ in range(count)]


def _available(given: Fields) -> list[int] | None:
    if "unavailable" not in given:
        return None
    return [partition for partition in given["partitions"] if partition not in given["unavailable"]]


def _tells_of_change(name: str, told: object) -> bool:
    """Whether a result told in words is another partition than before, or the same."""
    text = f"{name} {told}".replace("_", " ")
    if re.search(r"\b(another|different|other|never|not|avoids|rotates|changes)\b", text):
        return told is not False
    unchanged = re.search(r"\b(unchanged|same|keeps?|stays?|remains)\b", text)
    holds(unchanged, f'"{text}" tells whether the partition changes')
    return told is False


PARTITION_CHECKS: Mapping[str, Check] = {
    "murmur2": check_murmur2,
    "partition_of_key": check_partition_of_key,
    "partition_rule": check_partition_rule,
    "partitioner_behaviour": check_partitioner_behaviour,
}
