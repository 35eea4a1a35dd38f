"""Tables that change at random, joined, with the SQL that says what they amount to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any, TypeAlias, get_args

import duckdb
import polars as pl

from penstock.model.expr import Call, Column
from penstock.model.join import How, Join, Pick
from penstock.model.join_bound import Whole
from penstock.model.latest import Latest
from penstock.model.physical import Settings
from penstock.model.plan import Plan, Sink
from penstock.model.relation import Relation
from penstock.model.source import Stream
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT64
from penstock.testing.driver import TestDriver

Row: TypeAlias = tuple[Any, ...]
Keyed: TypeAlias = dict[int, Row]

_WORDS: Mapping[How, str] = {
    "inner": "JOIN",
    "left": "LEFT JOIN",
    "right": "RIGHT JOIN",
    "full": "FULL JOIN",
    "semi": "SEMI JOIN",
    "anti": "ANTI JOIN",
}


def columns_of(number: int) -> tuple[str, str, str]:
    """Give the columns of a table: its key, a key of another one, and a value."""
    return f"id{number}", f"fk{number}", f"v{number}"


def a_table(number: int) -> Latest:
    schema = Schema(tuple(Field(name, INT64) for name in columns_of(number)))
    key = columns_of(number)[:1]
    return Latest(Stream(f"t{number}", schema, key=key), key)


def joined(left: Relation, right: Relation, on: tuple[str, str], how: How) -> Join:
    """Join on columns named differently; the result has all of both."""
    picks = tuple(Pick(name, name) for name in left.schema.names)
    if how not in ("semi", "anti"):
        picks += tuple(Pick(name, None, name) for name in right.schema.names)
    return Join(left, right, (on,), how, Whole(), picks)


@dataclass(frozen=True, slots=True)
class Query:
    """A relation over tables, and the same in SQL."""

    relation: Relation
    sql: str
    tables: int


def two_tables(chance: Random) -> Query:
    """Join two tables by their keys or by a foreign one, in some cases with a condition."""
    how: How = chance.choice(get_args(How))
    key = chance.choice(["id0", "fk0"])
    relation = joined(a_table(0), a_table(1), (key, "id1"), how)
    sql = f"SELECT * FROM t0 {_WORDS[how]} t1 ON {key} = id1"
    if how not in ("semi", "anti") and chance.random() < 0.3:
        condition = Call("lt", (Column("v0"), Column("v1")))
        relation = Join(
            relation.left,
            relation.right,
            relation.on,
            how,
            Whole(),
            relation.columns,
            condition=condition,
        )
        sql = f"{sql} AND v0 < v1"
    return Query(relation, sql, 2)


def foreign_keys(chance: Random, tables: int) -> Query:
    """Join many tables, each by the key that the one before it holds."""
    relation: Relation = a_table(0)
    sql = "SELECT * FROM t0"
    for number in range(1, tables):
        how: How = chance.choice(["inner", "left", "left", "right", "full"])
        key = f"fk{number - 1}"
        relation = joined(relation, a_table(number), (key, f"id{number}"), how)
        sql = f"{sql} {_WORDS[how]} t{number} ON {key} = id{number}"
    return Query(relation, sql, tables)


@dataclass(slots=True)
class RandomTables:
    """Tables of few keys, into which rows are put, replaced and deleted at random."""

    chance: Random
    count: int
    rows: list[Keyed] = field(init=False)

    def __post_init__(self) -> None:
        self.rows = [{} for _ in range(self.count)]

    def batch(self, most: int) -> dict[tuple[str, int], pl.DataFrame]:
        """Give the records of a batch, as they come to the topics."""
        records: list[list[Row]] = [[] for _ in range(self.count)]
        for _ in range(self.chance.randint(1, most)):
            number = self.chance.randrange(self.count)
            records[number].append(self._record(number))
        return {
            (f"t{number}", 0): pl.DataFrame(
                rows,
                schema=[*((name, pl.Int64) for name in columns_of(number)), ("_weight", pl.Int32)],
                orient="row",
            )
            for number, rows in enumerate(records)
            if rows
        }

    def _record(self, number: int) -> Row:
        chance, table = self.chance, self.rows[number]
        key = chance.randint(0, 4)
        if chance.random() < 0.25:
            table.pop(key, None)
            return (key, None, None, -1)
        table[key] = (key, chance.choice([0, 1, 2, 3, 7, None]), chance.randint(0, 5))
        return (*table[key], 1)


class Tables:
    """DuckDB, which holds the tables as they are in the end."""

    def __init__(self) -> None:
        self._connection = duckdb.connect()
        self._connection.execute("SET threads TO 1")

    def answer(self, sql: str, rows: list[Keyed]) -> Counter[Row]:
        for number, table in enumerate(rows):
            names = columns_of(number)
            values = [list(column) for column in zip(*table.values(), strict=True)]
            frame = pl.DataFrame(
                [
                    pl.Series(name, values[place] if values else [], pl.Int64)
                    for place, name in enumerate(names)
                ]
            )
            self._connection.register(f"t{number}", frame.to_arrow())
        return Counter(self._connection.execute(sql).fetchall())


def changed_at_random(query: Query, chance: Random, batches: int) -> tuple[TestDriver, list[Keyed]]:
    """Run a query over tables that change, with a crash somewhere; give the tables it saw."""
    settings = Settings(buckets=chance.choice([1, 3]))
    driver = TestDriver(Plan("random", (Sink(query.relation, "out"),)), settings=settings)
    tables = RandomTables(chance, query.tables)
    dies = chance.randrange(2 * batches)
    for number in range(batches):
        if number == dies:
            driver.crash_after(chance.choice(driver.steps))
        driver.push_together(tables.batch(chance.choice([1, 4, 12])))
    return driver, tables.rows


def table(driver: TestDriver) -> Counter[Row]:
    """Give what the changes amount to, and see that none takes back what is not there."""
    changes = driver.frame("out")
    names = [name for name in changes.columns if not name.startswith("_")]
    found: Counter[Row] = Counter()
    dated: Counter[Row] = Counter()
    for weight, time, *row in changes.select("_weight", "_time", *names).rows():
        found[tuple(row)] += weight
        dated[time, *row] += weight
        assert dated[time, *row] >= 0, (time, row)
    found = Counter({row: count for row, count in found.items() if count})
    assert found == Counter(tuple(row.values()) for row in driver.table("out"))
    return found
