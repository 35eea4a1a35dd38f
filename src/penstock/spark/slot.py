"""The numbers Spark groups by: one for each bucket of each operator.

Spark sends a group to a task by the hash of its key. With few buckets chance would give one
task twice the work of another, so numbers are chosen whose hashes deal the buckets out evenly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

_MASK = 0xFFFFFFFF
_SPARK_SEED = 42
_INT_MAX = 2**31 - 1


@dataclass(frozen=True)
class Slots:
    """A number for each bucket of each operator, and one a task for what only passes through."""

    operators: tuple[str, ...]
    buckets: int
    parallelism: int

    def of(self, operator: str, bucket: int) -> int:
        """Give the number of a bucket."""
        return self._numbers[self._index[operator] * self.buckets + bucket]

    def passing(self, lane: int) -> int:
        """Give a number that no operator has; lanes are dealt out over the tasks."""
        return self._numbers[len(self.operators) * self.buckets + lane % self.parallelism]

    def owner(self, number: int) -> tuple[str, int] | None:
        """Give the operator and the bucket of a number; none where it only passes through."""
        operator, bucket = divmod(number % self._count, self.buckets)
        return None if operator >= len(self.operators) else (self.operators[operator], bucket)

    def of_all(self, operators: Sequence[str]) -> list[int]:
        """Give the numbers of all buckets of some operators."""
        return [self.of(name, bucket) for name in operators for bucket in range(self.buckets)]

    @cached_property
    def _index(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.operators)}

    @property
    def _count(self) -> int:
        return len(self.operators) * self.buckets + self.parallelism

    @cached_property
    def _numbers(self) -> list[int]:
        own = len(self.operators) * self.buckets
        return [
            self._number(at, (at % self.buckets if at < own else at - own) % self.parallelism)
            for at in range(self._count)
        ]

    def _number(self, at: int, task: int) -> int:
        number = at
        while spark_hash(number) % self.parallelism != task:
            number += self._count
            assert number <= _INT_MAX
        return number


def spark_hash(number: int) -> int:
    """Hash a 32-bit integer as Spark's exchanges do (Murmur3, signed)."""
    mixed = _rotated(number * 0xCC9E2D51 & _MASK, 15) * 0x1B873593 & _MASK
    found = (_rotated(_SPARK_SEED ^ mixed, 13) * 5 + 0xE6546B64) & _MASK
    found ^= 4
    found = (found ^ (found >> 16)) * 0x85EBCA6B & _MASK
    found = (found ^ (found >> 13)) * 0xC2B2AE35 & _MASK
    found ^= found >> 16
    return found - 2**32 if found > _INT_MAX else found


def _rotated(number: int, bits: int) -> int:
    return (number << bits | number >> (32 - bits)) & _MASK
