"""Streams and tables, events and views (C02, C48, D31, D36 to D39, I03, J05, J07 to J09, K15).

D38 is in tests/spark/test_tables.py, with the other checks that need Spark.
"""

from __future__ import annotations

import random
import sqlite3
from collections import Counter
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import penstock as ps
from penstock.errors import RecordError
from penstock.log.event_store import Body, EventStore
from penstock.log.open import open_log
from penstock.log.port import ReadLimit
from penstock.testing.driver import TestDriver
from tests.requirements.events import Row, rolled_up, visit_rows
from tests.requirements.homes import put, records, stored, to_the_end

ENTRIES = {"account": str, "amount": int}
BALANCE = {"account": str, "balance": int}
VISITS = {"page": str, "browser": str, "referrer": str, "at": "timestamp"}
GROUPS = (
    ("page", "browser", "referrer", "hour"),
    ("page", "browser", "hour"),
    ("page", "hour"),
    ("page",),
    (),
)


def entries(count: int, seed: int = 1) -> list[Row]:
    """Credits and debits of a few accounts."""
    chance = random.Random(seed)
    return [
        {"account": f"a{chance.randrange(5)}", "amount": chance.randrange(-50, 100)}
        for _ in range(count)
    ]


def balances_of(given: list[Row]) -> dict[str, int]:
    found: Counter[str] = Counter()
    for entry in given:
        found[entry["account"]] += entry["amount"]
    return dict(found)


def bank(name: str = "bank", topic: str = "balances") -> ps.App:
    """Balances: the sum of all credits and debits of an account, as a table."""
    app = ps.App(name)
    log = app.stream("entries", schema=ENTRIES)
    balances = log.group_by("account").refine(ps.retracting()).agg(balance=ps.sum("amount"))
    balances.to_table().to(topic)
    return app


def by_key(rows: list[Row], key: str, value: str) -> dict[str, Any]:
    return {row[key]: row[value] for row in rows}


# D31, K15
def test_credits_and_debits_give_balances() -> None:
    given = entries(200)
    driver = bank().test()
    for start in range(0, 200, 7):
        driver.push("entries", given[start : start + 7])
        so_far = balances_of(given[: start + 7])
        assert by_key(driver.table("balances"), "account", "balance") == so_far


# D31
def test_the_changes_of_a_table_make_it_again() -> None:
    app = ps.App("accounts")
    app.table("accounts", key="account", schema=BALANCE).to("log", changes=True)
    driver = app.test()
    table: dict[str, int] = {}
    chance = random.Random(2)
    for number in range(60):
        account = f"a{chance.randrange(4)}"
        if chance.random() < 0.25:
            driver.delete("accounts", {"account": account})
            table.pop(account, None)
        else:
            driver.push("accounts", [{"account": account, "balance": number}])
            table[account] = number
    replayed: Counter[tuple[str, int]] = Counter()
    for change in driver.rows("log"):
        replayed[change["account"], change["balance"]] += change["_weight"]
        assert set(replayed.values()) <= {0, 1}
    assert dict(row for row, there in replayed.items() if there) == table


# I03
def test_a_replica_equals_its_source_after_replay(tmp_path: Path) -> None:
    source = ps.App("source")
    accounts = source.table("accounts", key="account", schema=BALANCE)
    accounts.to("published")
    given = [("a", 1), ("b", 2), ("a", 3), ("c", 4), ("b", None), ("c", 5), ("d", 6), ("d", None)]
    put(tmp_path, "accounts", BALANCE, given)
    replica = ps.App("replica")
    copy = replica.table("published", key="account", schema=BALANCE)
    copy.persist(tmp_path / "replica.sqlite", "accounts")
    for app in (source, replica):
        to_the_end(app.physical(), tmp_path, checkpoint=app.name, until="caught up")
    assert in_store(tmp_path / "replica.sqlite", "SELECT account, balance FROM accounts") == [
        ("a", 3),
        ("c", 5),
    ]
    put(tmp_path, "accounts", BALANCE, [("a", None), ("e", 7)])
    for app in (source, replica):
        to_the_end(app.physical(), tmp_path, checkpoint=app.name, until="caught up")
    assert in_store(tmp_path / "replica.sqlite", "SELECT account, balance FROM accounts") == [
        ("c", 5),
        ("e", 7),
    ]


# D36
def test_each_update_of_a_count_is_a_record() -> None:
    app = ps.App("counts")
    log = app.stream("entries", schema=ENTRIES)
    counted = log.group_by("account").refine(ps.retracting()).agg(n=ps.count()).to_table()
    counted.to_stream().to("updates")
    driver = app.test()
    for entry in [{"account": name, "amount": 1} for name in "aabab"]:
        driver.push("entries", [entry])
    assert [(row["account"], row["n"]) for row in driver.rows("updates")] == [
        ("a", 1),
        ("a", 2),
        ("b", 1),
        ("a", 3),
        ("b", 2),
    ]


def cube(name: str = "cube") -> ps.App:
    """Counters of visits by page, browser, referrer and hour, and their roll-ups."""
    app = ps.App(name)
    visits = app.stream("visits", schema=VISITS, event_time="at").with_columns(
        hour=ps.date_trunc("hour", ps.col("at"))
    )
    for number, group in enumerate(GROUPS):
        visits.group_by(*group).agg(n=ps.count()).to(f"by-{number}")
    return app


# D37, I20
def test_counters_by_dimension_roll_up_into_one_another() -> None:
    given = visit_rows(500)
    driver = cube().test()
    for start in range(0, 500, 60):
        driver.push("visits", given[start : start + 60])
    for number, group in enumerate(GROUPS):
        found = {
            tuple(row[name] for name in group): row["n"] for row in driver.table(f"by-{number}")
        }
        assert found == rolled_up(given, group)
    for finer, coarser in pairwise(GROUPS):
        summed: Counter[tuple[Any, ...]] = Counter()
        for key, n in rolled_up(given, finer).items():
            summed[
                tuple(part for name, part in zip(finer, key, strict=True) if name in coarser)
            ] += n
        assert dict(summed) == rolled_up(given, coarser)


# D39, J07
def test_a_state_is_never_written_without_its_event(tmp_path: Path) -> None:
    app = bank()
    given = entries(40)
    put(tmp_path, "entries", ENTRIES, [tuple(entry.values()) for entry in given])
    raw = records(tmp_path, "entries")
    to_the_end(app.physical(), tmp_path)
    # Every version of every balance is what the events up to one of them amount to.
    possible = {
        (account, balance)
        for end in range(len(given) + 1)
        for account, balance in balances_of(given[:end]).items()
    }
    written = {(row["account"], row["balance"]) for row in stored(tmp_path, "balances")}
    assert written
    assert written <= possible
    # The events are the truth, and stay as they were written.
    assert records(tmp_path, "entries") == raw


# J08
def test_a_view_that_was_deleted_is_made_again(tmp_path: Path) -> None:
    put(tmp_path, "entries", ENTRIES, [tuple(entry.values()) for entry in entries(50)])
    app = bank()
    store = tmp_path / "view.sqlite"
    app.stream("entries", schema=ENTRIES).group_by("account").agg(n=ps.count()).persist(store, "n")
    for guarantee in ("at-least-once", "exactly-once"):
        to_the_end(app.physical(), tmp_path, guarantee=guarantee, rebuild=True)
        table = by_key(stored(tmp_path, "balances"), "account", "balance")
        counts = in_store(store, "SELECT account, n FROM n ORDER BY 1")
        assert table == balances_of(entries(50))
        with closing(sqlite3.connect(store)) as database:
            database.execute("DELETE FROM n")
            database.commit()
        # Without the rebuild the program has nothing more to do.
        to_the_end(app.physical(), tmp_path, guarantee=guarantee, until="caught up")
        assert in_store(store, "SELECT * FROM n") == []
        to_the_end(app.physical(), tmp_path, guarantee=guarantee, rebuild=True)
        assert by_key(stored(tmp_path, "balances"), "account", "balance") == table
        assert in_store(store, "SELECT account, n FROM n ORDER BY 1") == counts


# J09
def test_a_second_view_is_made_from_history_and_the_writer_does_not_know(tmp_path: Path) -> None:
    given = entries(60)
    put(tmp_path, "entries", ENTRIES, [tuple(entry.values()) for entry in given])
    to_the_end(bank().physical(), tmp_path, checkpoint="first")
    first, raw = stored(tmp_path, "balances"), records(tmp_path, "entries")
    second = ps.App("largest")
    log = second.stream("entries", schema=ENTRIES)
    log.group_by("account").agg(largest=ps.max("amount")).to("largest")
    to_the_end(second.physical(), tmp_path, checkpoint="second")
    found = by_key(stored(tmp_path, "largest"), "account", "largest")
    assert found == {
        account: max(entry["amount"] for entry in given if entry["account"] == account)
        for account in {entry["account"] for entry in given}
    }
    assert (stored(tmp_path, "balances"), records(tmp_path, "entries")) == (first, raw)


# J05
def test_a_state_is_a_fold_of_events_at_any_point_and_versions_guard_decisions(
    tmp_path: Path,
) -> None:
    def moved(balance: int, event: Body) -> int:
        return balance + int(event["amount"])

    def take(store: EventStore, account: str, amount: int) -> None:
        """Take money that is there: a decision on the version that was looked at."""
        seen = store.version(account)
        if store.fold(account, 0, moved, version=seen) < amount:
            raise ValueError(account)
        store.append(account, [entry(account, -amount)], expected_version=seen)

    def entry(account: str, amount: int) -> Row:
        return {"account": account, "amount": amount}

    put(tmp_path, "entries", ENTRIES, [])
    with open_log(tmp_path) as log:
        store, other = EventStore(log, "entries"), EventStore(log, "entries")
        store.append("a", [entry("a", 100), entry("a", 20)], expected_version=0)
        seen = other.version("a")
        take(store, "a", 90)
        # The other has decided on what it saw before: it is told, and nothing is written.
        with pytest.raises(RecordError, match="VERSION_CONFLICT"):
            other.append("a", [entry("a", -90)], expected_version=seen)
        with pytest.raises(ValueError, match="a"):
            take(other, "a", 90)
        history = [store.fold("a", 0, moved, version=version) for version in range(4)]
        store.close()
        other.close()
    assert history == [0, 100, 120, 30]
    # A view of the same events is the same fold.
    to_the_end(bank().physical(), tmp_path)
    assert stored(tmp_path, "balances")[-1] == {"account": "a", "balance": 30}


# C02
def test_after_each_publish_the_result_is_that_of_everything_so_far() -> None:
    given = entries(90, seed=4)
    app = ps.App("totals")
    log = app.stream("entries", schema=ENTRIES)
    log.group_by("account").agg(total=ps.sum("amount"), n=ps.count(), top=ps.max("amount")).to(
        "out"
    )
    driver = app.test()
    chance = random.Random(5)
    start = 0
    while start < len(given):
        end = start + chance.randrange(1, 9)
        driver.push("entries", given[start:end])
        start = end
        so_far = pa.Table.from_pylist(given[:end])
        wanted = asked(
            so_far,
            "SELECT account, sum(amount)::BIGINT, count(*), max(amount) FROM rows GROUP BY 1",
        )
        found = [tuple(row.values()) for row in driver.table("out")]
        assert sorted(found) == sorted(wanted)


# C48
def test_a_standing_query_stores_no_rows_and_stored_rows_are_asked_when_one_likes(
    tmp_path: Path,
) -> None:
    app = ps.App("standing")
    store = tmp_path / "answers.sqlite"
    log = app.stream("entries", schema=ENTRIES)
    log.filter(ps.col("amount") > 0).group_by("account").agg(n=ps.count()).persist(store, "answers")
    driver = TestDriver(app)
    for _ in range(20):
        driver.push("entries", entries(100))
    # In motion: 2,000 rows have passed, and one answer for each account is all that is kept.
    (kept,) = {table.height for table in driver.state("agg-1").values()}
    assert kept == 5
    # At rest: the events are stored, and a question that nobody had thought of is answered.
    given = entries(100)
    put(tmp_path, "entries", ENTRIES, [tuple(entry.values()) for entry in given])
    to_the_end(app.physical(), tmp_path)
    with open_log(tmp_path) as opened:
        stored_rows = opened.read("entries", 0, 0, ReadLimit()).rows
    assert stored_rows.num_rows == 100
    spread = asked(stored_rows, "SELECT max(amount) - min(amount) FROM rows")
    amounts = [entry["amount"] for entry in given]
    assert spread == [(max(amounts) - min(amounts),)]
    answers = dict(in_store(store, "SELECT account, n FROM answers"))
    assert answers == Counter(entry["account"] for entry in given if entry["amount"] > 0)


def in_store(store: Path, statement: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(store)) as database:
        return sorted(database.execute(statement).fetchall())


def asked(rows: pa.Table, question: str) -> list[tuple[Any, ...]]:
    """Ask another engine about rows."""
    with duckdb.connect() as engine:
        engine.register("rows", rows)
        return engine.execute(question).fetchall()
