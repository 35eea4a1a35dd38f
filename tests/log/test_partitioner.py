from __future__ import annotations

import itertools
import zlib
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import TopicError
from penstock.log.murmur2 import partition_of_key
from penstock.log.partitioner import (
    PARTITIONERS,
    CustomPartitioner,
    DefaultPartitioner,
    Explicit,
    KeyHash,
    Partitioner,
    RoundRobin,
    partitioner_named,
)

records = st.lists(st.none() | st.binary(max_size=6), max_size=80)


def send(
    partitioner: Partitioner,
    keys: Sequence[bytes | None],
    *,
    topic: str = "views",
    partitions: int = 4,
    available: Sequence[int] | None = None,
) -> list[int]:
    column = pa.array(keys, type=pa.binary())
    sizes = np.full(len(keys), 10, dtype=np.int64)
    chosen = partitioner.partition(topic, column, sizes, partitions, available)
    assert chosen.dtype == np.int32
    return [int(partition) for partition in chosen]


@given(keys=records)
def test_the_same_key_always_has_the_same_partition(keys: list[bytes | None]) -> None:
    chosen = send(DefaultPartitioner(), keys)
    for key, partition in zip(keys, chosen, strict=True):
        assert key is None or partition == partition_of_key(key, 4)


def test_keyed_records_do_not_fill_the_batch_of_the_others() -> None:
    partitioner = DefaultPartitioner(batch_bytes=20)
    chosen = send(partitioner, [None, b"a", b"b", b"c", None, None, None])
    assert chosen[0] == chosen[4] != chosen[5] == chosen[6]


def test_topics_do_not_share_a_sticky_partition() -> None:
    partitioner = DefaultPartitioner(batch_bytes=20)
    first = send(partitioner, [None], topic="a")
    send(partitioner, [None] * 50, topic="b")
    assert send(partitioner, [None], topic="a") == first


def test_no_key_column_is_a_column_of_nulls() -> None:
    draws = itertools.count().__next__
    partitioner = DefaultPartitioner(batch_bytes=10, draw=draws)
    chosen = partitioner.partition("t", None, np.full(4, 10, dtype=np.int64), 2)
    assert sorted(chosen.tolist()) == [0, 0, 1, 1]


@given(flushes=st.lists(st.integers(0, 30), max_size=8), partitions=st.integers(1, 7))
def test_round_robin_counts_differ_by_one_at_most(flushes: list[int], partitions: int) -> None:
    partitioner = RoundRobin()
    chosen = Counter(dict.fromkeys(range(partitions), 0))
    for count in flushes:
        chosen.update(send(partitioner, [None] * count, partitions=partitions))
    assert max(chosen.values()) - min(chosen.values()) <= 1


def test_round_robin_ignores_keys_and_other_topics() -> None:
    partitioner = RoundRobin()
    assert send(partitioner, [b"k", b"k"]) == [0, 1]
    assert send(partitioner, [None], topic="other") == [0]
    assert send(partitioner, [b"k", None, b"k"]) == [2, 3, 0]


def test_round_robin_passes_over_what_is_not_available() -> None:
    assert send(RoundRobin(), [None] * 4, available=[0, 3]) == [0, 3, 0, 3]
    assert send(RoundRobin(), [None] * 4, available=[]) == [0, 1, 2, 3]


@given(keys=st.lists(st.binary(min_size=1, max_size=6)))
def test_confluents_default_is_the_crc_of_the_key(keys: list[bytes]) -> None:
    assert send(KeyHash("crc32"), keys) == [zlib.crc32(key) % 4 for key in keys]


def test_hashed_records_without_a_key_are_scattered() -> None:
    assert set(send(KeyHash("murmur2"), [None] * 200)) == {0, 1, 2, 3}
    assert set(send(KeyHash("murmur2"), [None] * 200, available=[1, 2])) == {1, 2}
    assert set(send(KeyHash("crc32"), [None, b""] * 200)) == {0, 1, 2, 3}
    assert set(send(KeyHash("murmur2"), [b""] * 200)) == {partition_of_key(b"", 4)}
    sizes = np.ones(200, dtype=np.int64)
    assert set(KeyHash().partition("t", None, sizes, 4).tolist()) == {0, 1, 2, 3}


def test_an_explicit_partition_takes_every_record() -> None:
    assert send(Explicit(2), [b"a", None]) == [2, 2]


def test_an_explicit_partition_beyond_the_last_is_refused() -> None:
    with pytest.raises(TopicError, match="PARTITION_RANGE") as caught:
        send(Explicit(4), [b"a"])
    assert caught.value.hint == "Its partitions are 0 to 3."


def test_a_function_decides_over_key_and_number_of_partitions() -> None:
    partitioner = CustomPartitioner(lambda key, partitions: len(key or b"") % partitions)
    assert send(partitioner, [b"", None, b"abc", b"abcde"]) == [0, 0, 3, 1]
    assert partitioner.partition("t", None, np.ones(2, dtype=np.int64), 4).tolist() == [0, 0]


@pytest.mark.parametrize("answer", [4, -1])
def test_a_function_that_leaves_the_range_is_refused(answer: int) -> None:
    with pytest.raises(TopicError, match="PARTITION_RANGE"):
        send(CustomPartitioner(lambda _key, _partitions: answer), [b"a"])


def test_a_function_that_fails_is_named_with_the_key() -> None:
    with pytest.raises(TopicError, match="PARTITIONER_FAILED") as caught:
        send(CustomPartitioner(lambda _key, _partitions: 1 // 0), [b"fatal"])
    assert "fatal" in caught.value.fact
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_a_sticky_batch_without_room_is_refused_at_once() -> None:
    with pytest.raises(TopicError, match="STICKY_BATCH_SIZE"):
        DefaultPartitioner(batch_bytes=0)


@pytest.mark.parametrize("name", PARTITIONERS)
def test_a_named_partitioner_stays_within_the_topic(name: str) -> None:
    chosen = send(partitioner_named(name), [b"a", None, b"", b"b"] * 20)
    assert set(chosen) <= {0, 1, 2, 3}


def test_a_misspelt_partitioner_is_named_and_corrected() -> None:
    with pytest.raises(TopicError, match="PARTITIONER_UNKNOWN") as caught:
        partitioner_named("round-robbin")
    assert caught.value.hint == 'Did you mean "round-robin"?'
