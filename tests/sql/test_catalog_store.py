from __future__ import annotations

import pytest

from penstock.errors import SqlError
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.embedded.memory import MemoryStorage
from penstock.log.rows import rows_of_bytes
from penstock.sql import catalog_store
from penstock.sql.catalog_entry import CatalogEntry
from penstock.sql.catalog_store import CATALOG_TOPIC, CatalogStore, Change

Entries = tuple[CatalogEntry, ...]


def entry(name: str, number: int = 0) -> CatalogEntry:
    return CatalogEntry("stream", name, number, (f"CREATE STREAM {name};",), topic=name.lower())


def added(store: CatalogStore, name: str) -> int:
    def decide(entries: Entries) -> tuple[int, list[Change]]:
        number = len(entries)
        return number, [entry(name, number)]

    return store.change(decide)


def test_what_one_process_writes_another_reads() -> None:
    log = EmbeddedLog(MemoryStorage())
    mine, other = CatalogStore(log), CatalogStore(log)
    assert mine.entries() == ()
    assert added(mine, "A") == 0
    assert other.entries() == (entry("A"),)
    assert added(other, "B") == 1
    assert added(mine, "C") == 2
    assert [item.name for item in other.entries()] == ["A", "B", "C"]
    assert log.topic(CATALOG_TOPIC).config.compacts


def test_who_was_fenced_off_decides_anew_on_what_is_there_now() -> None:
    log = EmbeddedLog(MemoryStorage())
    mine, other = CatalogStore(log), CatalogStore(log)
    added(mine, "A")
    seen: list[int] = []

    def decide(entries: Entries) -> tuple[int, list[Change]]:
        seen.append(len(entries))
        if len(seen) == 1:
            added(other, "B")
        return len(entries), [entry("C", len(entries))]

    assert mine.change(decide) == 2
    assert seen[0] == 1
    assert seen[-1] == 2
    assert [item.name for item in other.entries()] == ["A", "B", "C"]


def test_an_entry_that_is_gone_is_gone_for_all() -> None:
    log = EmbeddedLog(MemoryStorage())
    mine, other = CatalogStore(log), CatalogStore(log)
    added(mine, "A")
    other.change(lambda _: (None, ["source:A"]))
    assert mine.entries() == ()
    mine.close()


def test_nothing_decided_writes_nothing() -> None:
    log = EmbeddedLog(MemoryStorage())
    assert CatalogStore(log).change(lambda entries: (len(entries), [])) == 0
    assert log.topics() == ()


def test_a_catalog_that_others_change_all_the_while_is_not_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log = EmbeddedLog(MemoryStorage())
    mine, other = CatalogStore(log), CatalogStore(log)
    added(mine, "A")
    monkeypatch.setattr(catalog_store, "_ATTEMPTS", 3)
    monkeypatch.setattr(catalog_store, "_LONGEST_PAUSE", 0.0)

    def decide(entries: Entries) -> tuple[None, list[Change]]:
        added(other, f"B{len(entries)}")
        return None, [entry("C", 99)]

    with pytest.raises(SqlError, match="SQL_CATALOG_BUSY"):
        mine.change(decide)
    assert "C" not in [item.name for item in mine.entries()]


def test_a_record_of_something_else_is_refused_by_its_name() -> None:
    log = EmbeddedLog(MemoryStorage())
    log.create_topic(CATALOG_TOPIC)
    log.append(CATALOG_TOPIC, 0, rows_of_bytes([b"{}"], keys=[b"source:X"]))
    with pytest.raises(SqlError, match=r"SQL_CATALOG.*source:X"):
        CatalogStore(log).entries()
