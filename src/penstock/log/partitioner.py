"""Choosing the partition of a record; it is the producer that chooses, never the log.

A partitioner decides over a whole buffer at once. None of them is safe for several
threads: a producer calls its own under its lock.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable, Mapping, Sequence
from operator import index
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
from typing_extensions import override

from penstock.errors import TopicError, did_you_mean
from penstock.log.murmur2 import partition_column
from penstock.log.rows import null_mask, numbers
from penstock.log.sticky import Partitions, Sizes, StickyChoice

if TYPE_CHECKING:
    import pyarrow as pa

STICKY_BATCH_BYTES = 16 * 1024


class Partitioner(Protocol):
    """Gives every record of a buffer a partition of its topic."""

    def partition(
        self,
        topic: str,
        keys: pa.Array | None,
        sizes: Sizes,
        partitions: int,
        available: Sequence[int] | None = None,
    ) -> Partitions:
        """Choose for each record by its key (None: no record has one) and its size in bytes.

        `available` names the partitions that can be written now; None means all.
        """
        ...


class DefaultPartitioner(Partitioner):
    """Keyed records by the hash of Kafka's Java client, the others in sticky batches."""

    def __init__(
        self,
        *,
        batch_bytes: int = STICKY_BATCH_BYTES,
        draw: Callable[[], int] | None = None,
    ) -> None:
        self._batch_bytes = batch_bytes
        self._draw = draw or _random_draw()
        self._choices: dict[str, StickyChoice] = {}
        self.choice("")  # refuses a batch size before the first record comes

    def choice(self, topic: str) -> StickyChoice:
        """The sticky state of one topic, of which no other topic knows."""
        if topic not in self._choices:
            self._choices[topic] = StickyChoice(batch_bytes=self._batch_bytes, draw=self._draw)
        return self._choices[topic]

    @override
    def partition(
        self,
        topic: str,
        keys: pa.Array | None,
        sizes: Sizes,
        partitions: int,
        available: Sequence[int] | None = None,
    ) -> Partitions:
        choice = self.choice(topic)
        if keys is None or keys.null_count == len(keys):
            return choice.spread(sizes, partitions, available)
        chosen = partition_column(keys, partitions)
        if keys.null_count:
            keyless = null_mask(keys)
            chosen[keyless] = choice.spread(sizes[keyless], partitions, available)
        return chosen


class RoundRobin(Partitioner):
    """Every record to the next partition in turn, whatever its key; each topic by itself."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    @override
    def partition(
        self,
        topic: str,
        keys: pa.Array | None,
        sizes: Sizes,
        partitions: int,
        available: Sequence[int] | None = None,
    ) -> Partitions:
        usable = np.array(available or range(partitions), dtype=np.int32)
        count = self._counts.get(topic, 0)
        self._counts[topic] = count + len(sizes)
        return usable[(count + np.arange(len(sizes))) % len(usable)]


class KeyHash(Partitioner):
    """Keyed records by a hash, each of the others to a partition drawn at random.

    "murmur2" is what Kafka's Java client and librdkafka's `murmur2_random` do. "crc32"
    is librdkafka's own default, `consistent_random`, so what confluent-kafka does unless
    told otherwise; it takes the empty key for none.
    """

    def __init__(
        self,
        hash_name: Literal["murmur2", "crc32"] = "murmur2",
        *,
        draw: Callable[[], int] | None = None,
    ) -> None:
        self._hash_name = hash_name
        self._draw = draw or _random_draw()

    @override
    def partition(
        self,
        topic: str,
        keys: pa.Array | None,
        sizes: Sizes,
        partitions: int,
        available: Sequence[int] | None = None,
    ) -> Partitions:
        if keys is None:
            return self._scatter(len(sizes), partitions, available)
        if self._hash_name == "murmur2":
            chosen, keyless = partition_column(keys, partitions), null_mask(keys)
        else:
            hashes, keyless = _crc32_column(keys)
            chosen = (hashes % partitions).astype(np.int32)
        chosen[keyless] = self._scatter(int(keyless.sum()), partitions, available)
        return chosen

    def _scatter(self, count: int, partitions: int, available: Sequence[int] | None) -> Partitions:
        usable = np.array(available or range(partitions), dtype=np.int32)
        draws = np.fromiter((self._draw() for _ in range(count)), dtype=np.int64, count=count)
        return usable[draws % len(usable)]


class Explicit(Partitioner):
    """Every record to one partition."""

    def __init__(self, partition: int) -> None:
        self._partition = partition

    @override
    def partition(
        self,
        topic: str,
        keys: pa.Array | None,
        sizes: Sizes,
        partitions: int,
        available: Sequence[int] | None = None,
    ) -> Partitions:
        return np.full(len(sizes), _checked(self._partition, topic, partitions), dtype=np.int32)


class CustomPartitioner(Partitioner):
    """Every record where a function of its key and the number of partitions says."""

    def __init__(self, function: Callable[[bytes | None, int], int]) -> None:
        self._function = function

    @override
    def partition(
        self,
        topic: str,
        keys: pa.Array | None,
        sizes: Sizes,
        partitions: int,
        available: Sequence[int] | None = None,
    ) -> Partitions:
        values = [None] * len(sizes) if keys is None else keys.to_pylist()
        chosen = (self._call(topic, key, partitions) for key in values)
        return np.fromiter(chosen, dtype=np.int32, count=len(values))

    def _call(self, topic: str, key: bytes | None, partitions: int) -> int:
        try:
            partition = index(self._function(key, partitions))
        except Exception as error:
            raise TopicError(
                "PARTITIONER_FAILED",
                f'the partitioner of topic "{topic}" failed on key {key!r}: {error!r}',
                hint="It is given the key and the number of partitions and returns one of them.",
            ) from error
        return _checked(partition, topic, partitions)


PARTITIONERS: Mapping[str, Callable[[], Partitioner]] = MappingProxyType(
    {
        "default": DefaultPartitioner,
        "round-robin": RoundRobin,
        "murmur2-random": lambda: KeyHash("murmur2"),
        "consistent-random": lambda: KeyHash("crc32"),
    }
)


def partitioner_named(name: str) -> Partitioner:
    """Make a partitioner by its name; a misspelt one is named and corrected."""
    if name not in PARTITIONERS:
        raise TopicError(
            "PARTITIONER_UNKNOWN",
            f'partitioner "{name}" does not exist',
            hint=did_you_mean(name, PARTITIONERS) or f"Choose one of: {', '.join(PARTITIONERS)}.",
        )
    return PARTITIONERS[name]()


def _checked(partition: int, topic: str, partitions: int) -> int:
    if 0 <= partition < partitions:
        return partition
    raise TopicError(
        "PARTITION_RANGE",
        f'topic "{topic}" has no partition {partition}',
        hint=f"Its partitions are 0 to {partitions - 1}.",
    )


def _random_draw() -> Callable[[], int]:
    source = random.Random()
    return lambda: source.getrandbits(31)


def _crc32_column(
    keys: pa.Array,
) -> tuple[np.ndarray[tuple[int], np.dtype[np.int64]], np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """Hash each distinct key once, and mark the rows whose key is null or empty."""
    encoded = keys.dictionary_encode(null_encoding="encode")
    distinct = encoded.dictionary.to_pylist()
    hashes = np.array([zlib.crc32(key or b"") for key in distinct], dtype=np.int64)
    empty = np.array([not key for key in distinct], dtype=np.bool_)
    rows = numbers(encoded.indices, np.int32)
    return hashes[rows], empty[rows]
