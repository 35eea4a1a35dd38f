"""A home with streams, tables and topics to ask, and the same rows folded by plain Python."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pyarrow as pa

from penstock.log.embedded.log import EmbeddedLog
from penstock.log.open import open_log
from penstock.log.port import ReadLimit
from penstock.log.rows import rows_of_bytes
from penstock.log.topic import TopicConfig
from penstock.schema.registry.open import open_schemas
from penstock.serve.pull.tables import Tables
from penstock.sql.session import SqlSession

KEYS = ("a", "b", "c", "d", "e")
STATEMENTS = """
CREATE STREAM s (k STRING KEY, n INT, g INT, v INT)
  WITH (KAFKA_TOPIC='s_records', VALUE_FORMAT='JSON', PARTITIONS=2);
CREATE TABLE t (k STRING PRIMARY KEY, h INT, w INT)
  WITH (KAFKA_TOPIC='t_records', VALUE_FORMAT='JSON', PARTITIONS=2);
"""
E_COLUMNS = pa.schema([("id", pa.int64()), ("k", pa.string()), ("x", pa.int32())])
C_COLUMNS = pa.schema([("k", pa.string()), ("z", pa.int64())])


@contextmanager
def opened(
    home: Path, *, memory: int = 2**30, seconds: float = 30.0
) -> Iterator[tuple[EmbeddedLog, Tables]]:
    """Open the log of a home, and what answers queries of it."""
    with (
        open_log(home) as log,
        closing(open_schemas(log, "")) as registry,
        closing(Tables(log, registry, memory=memory, seconds=seconds)) as tables,
    ):
        yield log, tables


def defined(home: Path, text: str = STATEMENTS) -> None:
    """Carry out statements."""
    with SqlSession(home) as session:
        for _ in session.run(text):
            pass


def made(home: Path) -> None:
    """Make a home that has everything."""
    defined(home)
    with open_log(home) as log:
        log.create_topic("e", partitions=2, schema=E_COLUMNS)
        log.create_topic("c", schema=C_COLUMNS, config=TopicConfig(cleanup="compact"))


def grown(log: EmbeddedLog, random: Random, count: int) -> None:
    """Append rows at random to all four; some take others back."""

    def number() -> int | None:
        return random.choice([None, random.randint(-3, 9), random.randint(-3, 9)])

    # Each has a number of its own: equal ones would leave the order of windows to chance.
    before = sum(log.bounds("s_records", partition).end for partition in range(2))
    for place in range(before, before + count):
        key = random.choice(KEYS)
        at = KEYS.index(key) % 2
        value = {"N": place, "G": number(), "V": number()}
        _put(log, "s_records", at, key, value)
        if random.random() < 0.5:
            gone = random.random() < 0.3
            _put(log, "t_records", at, key, None if gone else {"H": number(), "W": number()})
        row = {"id": place, "k": key, "x": number()}
        log.append("e", at, pa.Table.from_pylist([row], E_COLUMNS))
        gone = random.random() < 0.3
        fields = {"k": [None if gone else key], "z": [None if gone else number()]}
        table = pa.table(fields, schema=C_COLUMNS)
        table = table.append_column("_key", pa.array([key.encode()]))
        log.append("c", 0, table.append_column("_deleted", pa.array([gone])))


def _put(
    log: EmbeddedLog, topic: str, partition: int, key: str, value: Mapping[str, Any] | None
) -> None:
    content = None if value is None else json.dumps(value).encode()
    log.append(topic, partition, rows_of_bytes([content], keys=[key.encode()]))


def folded(log: EmbeddedLog, offsets: Mapping[Any, int] | None = None) -> duckdb.DuckDBPyConnection:
    """Give plain DuckDB with the rows that a fold of the log, record by record, leaves behind."""
    s = [
        (record["n"], record["k"], record["g"], record["v"])
        for record in (_json_row(it) for it in _records(log, "s_records", 2, offsets))
    ]
    t: dict[str, tuple[Any, ...]] = {}
    for record in _records(log, "t_records", 2, offsets):
        key = record["_key"].decode()
        t.pop(key, None)
        if record["value"] is not None:
            row = _json_row(record)
            t[key] = (key, row["h"], row["w"])
    e = [(it["id"], it["k"], it["x"]) for it in _records(log, "e", 2, offsets)]
    c: dict[bytes, tuple[Any, ...]] = {}
    for record in _records(log, "c", 1, offsets):
        c.pop(record["_key"], None)
        if not record["_deleted"]:
            c[record["_key"]] = (record["k"], record["z"])
    plain = duckdb.connect()
    for name, columns, rows in (
        ("s", "n INT, k VARCHAR, g INT, v INT", s),
        ("t", "k VARCHAR, h INT, w INT", list(t.values())),
        ("e", "id BIGINT, k VARCHAR, x INT", e),
        ("c", "k VARCHAR, z BIGINT", list(c.values())),
    ):
        plain.execute(f"CREATE TABLE {name} ({columns})")
        if rows:
            marks = ", ".join("?" * len(rows[0]))
            plain.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)
    return plain


def _json_row(record: Mapping[str, Any]) -> dict[str, Any]:
    value = {name.lower(): item for name, item in json.loads(record["value"]).items()}
    return {**value, "k": record["_key"].decode()}


def _records(
    log: EmbeddedLog, topic: str, partitions: int, offsets: Mapping[Any, int] | None
) -> Iterator[dict[str, Any]]:
    for partition in range(partitions):
        end = log.bounds(topic, partition).end
        if offsets is not None:
            end = offsets.get((topic, partition), end)
        at = 0
        while at < end:
            chunk = log.read(topic, partition, at, ReadLimit(stop=end))
            yield from chunk.rows.to_pylist()
            at = max(chunk.next_offset, at + 1)
