"""The rows that are joined: orders and payments of users, and changes of tables of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from penstock.log.open import open_log
from penstock.log.topic import TopicConfig

KEYS = 100_000
PARTITIONS = 2
ROWS_A_SECOND = 20_000
"""How far event time goes: a second in so many rows of a stream."""
EPOCH = 1_700_000_000_000
_TIME = pa.timestamp("ms", tz="UTC")
ORDERS = pa.schema(
    [("order", pa.int64()), ("user", pa.string()), ("amount", pa.float64()), ("at", _TIME)]
)
PAYMENTS = pa.schema(
    [("payment", pa.int64()), ("user", pa.string()), ("paid", pa.float64()), ("at", _TIME)]
)
USERS = pa.schema([("user", pa.string()), ("region", pa.string()), ("at", _TIME)])
_Values: TypeAlias = np.ndarray[tuple[int], np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class Part:
    """The rows that one batch takes of a partition of a topic."""

    rows: int
    number: int
    partition: int
    rows_a_second: int
    random: np.random.Generator

    def places(self) -> _Values:
        """Where in the topic each row stands; both partitions go on together."""
        first = self.number * self.rows
        return (first + np.arange(self.rows, dtype=np.int64)) * PARTITIONS + self.partition

    def times(self) -> _Values:
        """When each row happened, up to a second out of order."""
        steady = EPOCH + self.places() * 1000 // self.rows_a_second
        return steady - self.random.integers(0, 1000, self.rows)

    def keys(self, count: int = KEYS) -> _Values:
        """Random keys that belong to the partition."""
        chosen = self.random.integers(0, count // PARTITIONS, self.rows)
        return chosen * PARTITIONS + self.partition


@dataclass(frozen=True, slots=True)
class Rows:
    """A topic: its columns, what makes them, and how many rows it has for one of a stream."""

    topic: str
    schema: pa.Schema
    make: Callable[[Part], Sequence[_Values]]
    tenth: bool = False


def _orders(part: Part) -> Sequence[_Values]:
    # Each tenth row is a copy of the one before it: an order that was sent twice.
    sent = np.arange(part.rows)
    sent[9::10] -= 1
    amounts = part.random.random(part.rows) * 100
    times = part.times()
    return part.places()[sent], _users(part.keys()[sent]), amounts[sent], times[sent]


def _payments(part: Part) -> Sequence[_Values]:
    paid = part.random.random(part.rows) * 100
    return part.places(), _users(part.keys()), paid, part.times()


def _changed_users(part: Part) -> Sequence[_Values]:
    return _users(part.keys()), _regions(part), part.times()


def _changed_orders(part: Part) -> Sequence[_Values]:
    owners = part.random.integers(0, KEYS // 10, part.rows)
    amounts = part.random.random(part.rows) * 100
    return part.keys(), _users(owners), amounts, part.times()


def _changed_owners(part: Part) -> Sequence[_Values]:
    return _users(part.keys(KEYS // 10)), _regions(part), part.times()


TOPICS = (
    Rows("orders", ORDERS, _orders),
    Rows("payments", PAYMENTS, _payments),
    Rows("users", USERS, _changed_users, tenth=True),
    Rows("order-changes", ORDERS, _changed_orders),
    Rows("owners", USERS, _changed_owners, tenth=True),
)


def write_rows(home: Path, rows: Rows, batches: int, batch: int) -> None:
    """Write a topic to the log and, for each batch and partition, to a file of the same rows."""
    tenth = 10 if rows.tenth else 1
    folder = home / "files" / rows.topic
    folder.mkdir(parents=True)
    with open_log(home) as log:
        config = TopicConfig(fsync="os")
        log.create_topic(rows.topic, partitions=PARTITIONS, schema=rows.schema, config=config)
        for number in range(batches):
            for partition in range(PARTITIONS):
                seed = np.random.default_rng((number, partition, *rows.topic.encode()))
                size, pace = batch // PARTITIONS // tenth, ROWS_A_SECOND // tenth
                part = Part(size, number, partition, pace, seed)
                table = _table(rows.schema, rows.make(part))
                log.append(rows.topic, partition, table)
                pq.write_table(table, folder / f"{number:05d}-{partition}.parquet")


def write_all_users(home: Path) -> None:
    """Write a file with one row a user: a table as one that does not change has it."""
    folder = home / "files" / "all-users"
    folder.mkdir(parents=True)
    part = Part(KEYS, 0, 0, ROWS_A_SECOND, np.random.default_rng(0))
    columns = (_users(np.arange(KEYS)), _regions(part), part.times())
    pq.write_table(_table(USERS, columns), folder / "0.parquet")


def _users(numbers: _Values) -> _Values:
    return np.char.add("user-", numbers.astype(str))


def _regions(part: Part) -> _Values:
    return np.char.add("region-", part.random.integers(0, 50, part.rows).astype(str))


def _table(schema: pa.Schema, columns: Sequence[_Values]) -> pa.Table:
    arrays = [
        pa.array(values).view(_TIME) if field.type == _TIME else pa.array(values, field.type)
        for field, values in zip(schema, columns, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=schema)
