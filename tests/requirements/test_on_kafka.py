"""One topic of a broker feeds several systems (A61, I01), and what was wanted of jobs on Kafka.

Their lag by its own tools (21), nothing twice on its topics when a checkpoint has lost something
(6), and a way out (12).
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

import polars as pl
import pytest

import penstock as ps
from penstock.config import load_settings
from penstock.spark.job_files import current_files
from penstock.spark.run import start
from tests.cli.shell import Cli
from tests.connect.server import missing as postgres_missing
from tests.connect.server import postgres
from tests.eventually import eventually
from tests.faults.test_lost_commit import in_store, lose_batch, lose_commit, lose_progress
from tests.kafka.cluster import Brokers
from tests.kafka.tools import GROUPS, tool
from tests.requirements.orders import ORDER, ORDERS, SETTINGS, TOTALS, last, on_broker, send

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(300)]


def gated(row: dict[str, Any], gate: str) -> dict[str, Any]:
    """Give a row back, but not while the gate is there."""
    while Path(gate).exists():
        Path(f"{gate}-reached").touch()
        time.sleep(0.05)
    return row


def lags(kafka: Brokers, prefix: str) -> dict[str, int]:
    """How far groups are behind, as Kafka's own tool tells."""
    table = tool(kafka, GROUPS, "--describe", "--all-groups")
    rows = [line.split() for line in table.splitlines() if line.startswith(prefix)]
    found: Counter[str] = Counter()
    for group, _, _, committed, end, lag, *_ in rows:
        assert int(end) - int(committed) == int(lag)
        found[group] += int(lag)
    return dict(found)


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[list[str]]:
    """A database file, and a server where the machine has one, else another file."""
    file = str(tmp_path / "orders.sqlite")
    if postgres_missing():
        yield [file, str(tmp_path / "too.sqlite")]
    else:
        with postgres() as address:
            yield [file, address]


def totals_app(orders: str, gate: Path) -> ps.App:
    app = ps.App(f"{orders}-totals")
    hold = partial(gated, gate=str(gate))
    read = app.stream(orders, schema=ORDER, format="json").map(hold, schema=ORDER)
    read.group_by("item").agg(total=ps.sum("amount")).to(app.name, format="json")
    return app


def sync_app(orders: str, store: str, number: int) -> ps.App:
    app = ps.App(f"{orders}-sync{number}")
    read = app.stream(orders, schema=ORDER, format="json")
    read.persist(store, f"orders_{number}")
    return app


def catch_up(app: ps.App) -> None:
    """Run a program until it has read what its topics hold, so that it can go on later."""
    home = load_settings().home
    checkpoint = home / "jobs" / app.name
    physical = app.physical(SETTINGS)
    start(physical, home=home, checkpoint=checkpoint, until="caught up").await_end()


@contextmanager
def job_of(app: ps.App, cli: Cli) -> Iterator[None]:
    """Let a program run as a job, until the block is left."""
    thread = Thread(target=lambda: app.run(settings=SETTINGS), daemon=True)
    thread.start()
    yield
    cli.ok("jobs", "stop", f"{app.name}-1")
    thread.join(60)
    assert not thread.is_alive()


@pytest.mark.usefixtures("spark")
def test_a61_i01_one_topic_feeds_a_job_and_two_stores_and_tools_see_how_far_each_is(
    kafka: Brokers, project: Path, orders: str, stores: list[str], cli: Cli
) -> None:
    gate = project / "gate"
    totals = totals_app(orders, gate)
    syncs = [sync_app(orders, store, number) for number, store in enumerate(stores)]
    more = [("item-0", 1000)] * 7
    with job_of(totals, cli):
        for app in syncs:
            catch_up(app)
        eventually(lambda: shown_lag(cli, totals.name) == 0, pause=0.2)
        gate.touch()
        send(kafka, orders, more)
        eventually(Path(f"{gate}-reached").exists)
        behind = lags(kafka, orders)
        assert behind == {app.name: 7 for app in (totals, *syncs)}
        assert {name: shown_lag(cli, name) for name in behind} == behind
        gate.unlink()
        for app in syncs:
            catch_up(app)
        eventually(lambda: shown_lag(cli, totals.name) == 0, pause=0.2)
    # Its results are transactions, whose markers take offsets: who has read all is not behind.
    after = ps.App(f"{orders}-after")
    written = after.stream(totals.name, schema={"item": str, "total": int}, format="json")
    written.persist(stores[0], "after", key="item")
    catch_up(after)
    assert lags(kafka, orders) == {app.name: 0 for app in (totals, *syncs, after)}
    for number, store in enumerate(stores):
        assert in_store(store, f"orders_{number}") == sorted([*ORDERS, *more])
    expected = {**TOTALS, "item-0": TOTALS["item-0"] + 7000}
    assert dict(in_store(stores[0], "(SELECT item, total FROM after)")) == expected
    assert taken_along(cli, project / "taken", totals.name, orders) == expected


def shown_lag(cli: Cli, group: str) -> int | None:
    """How far a group is behind, as ours tells."""
    rows = cli.ok("groups", "list", "--json").json
    return next((row["lag"] for row in rows if row["group"] == group), None)


def taken_along(cli: Cli, folder: Path, name: str, orders: str) -> dict[str, int]:
    """Export a job; the results are what its input gives anew, by nothing but polars."""
    cli.ok("jobs", "export", f"{name}-1", str(folder), "--with-input")
    values = pl.read_parquet(folder / "input" / f"{orders}.parquet")["value"]
    rows = pl.DataFrame([json.loads(value) for value in values])
    made = rows.group_by("item").agg(total=pl.col("amount").sum())
    kept = pl.read_parquet(folder / "results" / f"{name}.parquet").sort("_partition", "_offset")
    table = kept.unique("_key", keep="last").select("_key", "value").rows()
    found = {key.decode(): json.loads(value)["total"] for key, value in table}
    assert found == dict(made.rows())
    return found


@pytest.mark.usefixtures("spark", "project")
def test_a_batch_that_spark_has_forgotten_is_given_once_to_topics_of_a_broker(
    kafka: Brokers,
) -> None:
    orders = kafka.topic(2)
    app = ps.App(f"{orders}-forgetful")
    read = app.stream(orders, schema=ORDER, format="json")
    read.to(f"{orders}-seen", format="json")
    read.group_by("item").agg(total=ps.sum("amount")).to(f"{orders}-totals", format="json")
    checkpoint = load_settings().home / "jobs" / app.name
    for number, loss in enumerate((lose_commit, lose_progress, lose_batch)):
        send(kafka, orders, ORDERS[20 * number : 20 * number + 20])
        catch_up(app)
        before = [on_broker(kafka, f"{orders}-{kind}") for kind in ("seen", "totals")]
        loss(current_files(checkpoint))
        catch_up(app)
        after = [on_broker(kafka, f"{orders}-{kind}") for kind in ("seen", "totals")]
        assert after == before, loss.__name__
    assert sorted(json.loads(value)["amount"] for _, value in after[0]) == list(range(60))
    assert last(after[1], "total") == TOTALS
