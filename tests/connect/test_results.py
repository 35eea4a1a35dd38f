from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from penstock.connect.results import Writer, claim_tables, drop_tables, write_batch
from penstock.connect.table import StoredTable
from penstock.errors import StoreError
from penstock.kernel.columns import from_rows
from penstock.kernel.port import WEIGHT, Frame
from penstock.model.plan import Sink
from penstock.model.source import Stream
from penstock.model.store import store_of
from penstock.schema.annotation import schema_of

COLUMNS = schema_of({"user": str, "n": int})
ME, OTHER = Writer("me"), Writer("other")


def a_table(folder: Path, *, upsert: bool = True, **more: Any) -> StoredTable:  # noqa: ANN401
    columns = more.pop("columns", COLUMNS)
    stream = Stream("in", columns, changelog=bool(more.pop("changelog", False)))
    keys = more.pop("keys", ("user",) if upsert else ())
    store = store_of(folder / "db")
    return StoredTable(Sink(stream, "counts", keys, upsert=upsert, store=store))


def changes(*rows: tuple[str | None, int, int]) -> Frame:
    frame = from_rows([{"user": user, "n": n} for user, n, _ in rows], COLUMNS)
    return frame.with_columns(pl.Series(WEIGHT, [weight for *_, weight in rows], pl.Int32))


def kept(folder: Path, columns: str = '"user", n') -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(folder / "db")) as database:
        return database.execute(f"SELECT {columns} FROM counts ORDER BY rowid").fetchall()


def test_a_key_keeps_its_last_row_and_one_that_is_gone_keeps_none(tmp_path: Path) -> None:
    table = a_table(tmp_path)
    claim_tables([table], ME)
    write_batch([(table, changes(("a", 1, 1), ("b", 1, 1), (None, 5, 1)))], ME, 0)
    again = changes(("a", 1, -1), ("a", 2, 1), ("b", 1, -1), (None, 5, -1), (None, 6, 1))
    write_batch([(table, again)], ME, 1)
    assert kept(tmp_path) == [("a", 2), (None, 6)]


def test_a_batch_that_comes_again_is_left_out(tmp_path: Path) -> None:
    table = a_table(tmp_path, upsert=False)
    claim_tables([table], ME)
    for number in (0, 0, 1, 0, 1):
        write_batch([(table, changes((f"batch {number}", number, 1)))], ME, number)
    assert kept(tmp_path) == [("batch 0", 0), ("batch 1", 1)]


def test_who_goes_on_keeps_its_number_and_a_new_one_begins_anew(tmp_path: Path) -> None:
    table = a_table(tmp_path, upsert=False)
    claim_tables([table], ME)
    write_batch([(table, changes(("a", 0, 1)))], ME, 7)
    claim_tables([table], ME)
    write_batch([(table, changes(("a", 1, 1)))], ME, 7)
    assert kept(tmp_path) == [("a", 0)]
    claim_tables([table], OTHER)
    write_batch([(table, changes(("a", 2, 1)))], OTHER, 0)
    assert kept(tmp_path) == [("a", 0), ("a", 2)]


def test_who_was_followed_by_another_is_refused_and_writes_nothing(tmp_path: Path) -> None:
    table = a_table(tmp_path)
    claim_tables([table], ME)
    claim_tables([table], OTHER)
    with pytest.raises(StoreError, match="STORE_TAKEN"):
        write_batch([(table, changes(("a", 1, 1)))], ME, 0)
    assert kept(tmp_path) == []


def test_several_may_write_a_share_each(tmp_path: Path) -> None:
    table = a_table(tmp_path)
    left, right = Writer("a", "-0"), Writer("b", "-1")
    for writer in (left, right):
        claim_tables([table], writer)
    for number in (0, 1, 1):
        write_batch([(table, changes(("a", number, 1)))], left, number)
        write_batch([(table, changes(("b", 10 * number, 1)))], right, number)
    assert kept(tmp_path) == [("a", 1), ("b", 10)]


def test_a_table_of_other_columns_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    claim_tables([a_table(tmp_path)], ME)
    other = a_table(tmp_path, columns=schema_of({"user": str, "total": int}))
    with pytest.raises(StoreError, match=r"STORE_COLUMNS.*total"):
        claim_tables([other], ME)


def test_a_changelog_without_a_key_keeps_its_weights(tmp_path: Path) -> None:
    table = a_table(tmp_path, upsert=False, changelog=True)
    claim_tables([table], ME)
    write_batch([(table, changes(("a", 1, 1), ("a", 1, -1)))], ME, 0)
    assert kept(tmp_path, '"user", n, _weight') == [("a", 1, 1), ("a", 1, -1)]


def test_without_any_key_column_there_is_one_row(tmp_path: Path) -> None:
    table = a_table(tmp_path, keys=())
    claim_tables([table], ME)
    write_batch([(table, changes(("all", 1, 1), ("all", 2, 1)))], ME, 0)
    write_batch([(table, changes(("all", 3, 1)))], ME, 1)
    assert kept(tmp_path) == [("all", 3)]


def test_a_dropped_table_can_be_made_anew(tmp_path: Path) -> None:
    table = a_table(tmp_path)
    claim_tables([table], ME)
    write_batch([(table, changes(("a", 1, 1)))], ME, 3)
    drop_tables([table])
    claim_tables([table], ME)
    write_batch([(table, changes(("b", 1, 1)))], ME, 0)
    assert kept(tmp_path) == [("b", 1)]


def test_every_type_has_its_place(tmp_path: Path) -> None:
    columns = schema_of(
        {
            "flag": bool,
            "small": "int32",
            "ratio": float,
            "raw": bytes,
            "at": "timestamp",
            "day": "date",
            "hour": "time",
            "price": "decimal(10, 2)",
            "tags": "array<string>",
            "part": "struct<x: int64, d: date>",
        }
    )
    row = {
        "flag": True,
        "small": 7,
        "ratio": 0.5,
        "raw": b"\xff\x00",
        "at": datetime(2024, 5, 1, 12, 30, 0, 250_000, UTC),
        "day": date(2024, 5, 1),
        "hour": time(12, 30, 0, 250_000),
        "price": Decimal("12.30"),
        "tags": ["a", "b"],
        "part": {"x": 1, "d": date(2024, 5, 2)},
    }
    table = a_table(tmp_path, columns=columns, keys=("raw", "at"))
    claim_tables([table], ME)
    frame = from_rows([row], columns).with_columns(pl.lit(1, pl.Int32).alias(WEIGHT))
    for number in range(2):
        write_batch([(table, frame)], ME, number)
    names = ", ".join(columns.names)
    assert kept(tmp_path, names) == [
        (
            1,
            7,
            0.5,
            b"\xff\x00",
            "2024-05-01 12:30:00.250",
            "2024-05-01",
            "12:30:00.250",
            "12.30",
            '["a", "b"]',
            '{"x": 1, "d": "2024-05-02"}',
        )
    ]
