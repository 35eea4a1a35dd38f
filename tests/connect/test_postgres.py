"""The same promises on a PostgreSQL server, which the tests start where the machine has one."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal

import polars as pl
import pytest

from penstock.connect.database import transaction
from penstock.connect.results import Writer, claim_tables, drop_tables, write_batch
from penstock.connect.table import StoredTable
from penstock.errors import StoreError
from penstock.inline.external_store import ExternalStore
from penstock.inline.state_store import Cut
from penstock.kernel.columns import from_rows
from penstock.kernel.port import WEIGHT, Frame
from penstock.model.plan import Sink
from penstock.model.source import Stream
from penstock.model.store import Store
from penstock.schema.annotation import schema_of
from tests.connect.server import missing, postgres

pytestmark = pytest.mark.slow

COLUMNS = schema_of(
    {
        "user?%": str,
        "flag": bool,
        "n": int,
        "ratio": float,
        "raw": bytes,
        "at": "timestamp",
        "day": "date",
        "price": "decimal(10, 2)",
        "tags": "array<string>",
    }
)
ROW = (True, 7, 0.5, b"\xff", datetime(2024, 5, 1, 12, tzinfo=UTC), date(2024, 5, 1))
ME, OTHER = Writer("me"), Writer("other")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    if missing():
        pytest.skip(missing())
    with postgres() as started:
        yield started


@pytest.fixture
def table(address: str) -> Iterator[StoredTable]:
    stream = Stream("in", COLUMNS)
    made = StoredTable(
        Sink(stream, "Counts %s?", ("user?%",), upsert=True, store=Store("postgres", address))
    )
    drop_tables([made])
    yield made
    drop_tables([made])


def row(user: str | None, n: int, weight: int = 1) -> Frame:
    values = [user, ROW[0], n, *ROW[2:], Decimal("1.20"), ["a"]]
    frame = from_rows([dict(zip(COLUMNS.names, values, strict=True))], COLUMNS)
    return frame.with_columns(pl.lit(weight, pl.Int32).alias(WEIGHT))


def kept(address: str) -> list[tuple[object, ...]]:
    with transaction(Store("postgres", address)) as session:
        found = session.run('SELECT "user?%", n, at, price, tags FROM "Counts %s?" ORDER BY 2')
        return [tuple(item) for item in found]


def test_a_batch_is_written_once_and_by_key(table: StoredTable, address: str) -> None:
    claim_tables([table], ME)
    write_batch([(table, pl.concat([row("a", 1), row("b", 2), row(None, 3)]))], ME, 0)
    for _ in range(2):
        write_batch([(table, pl.concat([row("a", 1, -1), row("a", 9), row("b", 2, -1)]))], ME, 1)
    rest = (ROW[4], Decimal("1.20"), '["a"]')
    assert kept(address) == [(None, 3, *rest), ("a", 9, *rest)]


def test_who_was_followed_by_another_is_refused(table: StoredTable, address: str) -> None:
    claim_tables([table], ME)
    claim_tables([table], OTHER)
    with pytest.raises(StoreError, match="STORE_TAKEN"):
        write_batch([(table, row("a", 1))], ME, 0)
    assert kept(address) == []


def test_a_server_that_is_away_has_a_code() -> None:
    away = Store("postgres", "postgresql://nobody@127.0.0.1:1/none")
    with pytest.raises(StoreError, match="STORE_FAILED"), transaction(away):
        pass


def test_states_are_kept_there_as_in_a_file(address: str) -> None:
    store = ExternalStore(Store("postgres", address), "shop")
    store.clear()
    a, b = ("agg-1", 0), ("agg-1", 1)
    for number, (states, changed, gone) in enumerate(
        [({a: b"1", b: b"1"}, {a, b}, set()), ({a: b"2"}, {a}, {b}), ({a: b"2"}, set(), set())], 1
    ):
        whole = (frozenset(states), frozenset(changed), frozenset(gone))
        store.write(Cut(number, b"%d" % number, *whole, encode=states.__getitem__), None)
        store.note(number)
    found = ExternalStore(Store("postgres", address), "shop").read(3)
    assert store.current() == 3
    assert found is not None
    assert (found.header, found.blobs) == (b"3", {a: b"2"})
