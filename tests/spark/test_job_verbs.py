"""Everything that can be done to a job that runs, done to one that its host goes on with."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from penstock.log.embedded.log import EmbeddedLog
from penstock.serve.hosting import Jobs, host_of
from tests.cli.shell import Cli
from tests.eventually import eventually
from tests.requirements.homes import records

pytestmark = [pytest.mark.spark, pytest.mark.slow]

VIEWS = pa.schema([("user", pa.string()), ("n", pa.int64())])
SHOP = """
import penstock as ps

app = ps.App("shop")
views = app.stream("views", schema={"user": "string", "n": "int64"})
views.group_by("user").count("rows").to("counted")
"""


class Shop:
    """A job, its input, and what it should have counted."""

    def __init__(self, log: EmbeddedLog, home: Path, cli: Cli) -> None:
        self._log = log
        self._home = home
        self._cli = cli
        self._given: Counter[str] = Counter()
        log.create_topic("views", partitions=2, schema=VIEWS)

    def give(self, *users: str) -> None:
        """Add a row for each user."""
        for number, user in enumerate(users):
            rows = pa.Table.from_pylist([{"user": user, "n": number}], VIEWS)
            self._log.append("views", hash(user) % 2, rows)
        self._given.update(users)

    def jobs(self, *words: str) -> str:
        """Run a command on jobs, and give what it said."""
        ran = self._cli.ok("jobs", *words, "--home", str(self._home))
        return ran.out + ran.err

    def counted(self, topic: str = "counted") -> dict[str, int]:
        """Give the rows of the table in a topic."""
        latest = {row["user"]: row for row in records(self._home, topic)}
        return {user: row["rows"] for user, row in latest.items() if not row["_deleted"]}

    def await_all(self, topic: str = "counted", *users: str) -> None:
        """Wait until a table has counted all rows, or all of some users."""
        wanted = {user: self._given[user] for user in users or self._given}
        eventually(lambda: self.counted(topic) == wanted)


@pytest.fixture
def shop(
    spark: SparkSession,
    log: EmbeddedLog,
    home: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Shop:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    Path("shop.py").write_text(SHOP)
    return Shop(log, home, Cli(capsys, monkeypatch))


def test_a_job_is_saved_rescaled_copied_rewound_exported_removed_and_restored(
    shop: Shop, home: Path
) -> None:
    shop.give("ann", "bob", "ann")
    shop.jobs("submit", "shop.py")
    with host_of(home, Jobs(home)).started():
        shop.await_all()
        assert " running " in shop.jobs("list")
        shop.jobs("savepoint", "shop", "kept")
        shop.give("ann", "cid")
        shop.await_all()
        assert "3 tasks at a time in the place of 2" in shop.jobs("rescale", "shop", "3")
        shop.jobs("clone", "shop", "copy", "--suffix", ".copy")
        shop.give("ann")
        shop.await_all()
        # It knows what the first has counted before, and writes what has changed since.
        shop.await_all("counted.copy", "ann")
        shop.jobs("pause", "copy")
        before = shop.jobs("rewind", "shop", "--to", "beginning", "--drop-results", "--json")
        assert '"after": 0' in before
        shop.give("dan")
        shop.await_all()
        assert "parallelism 3" in shop.jobs("show", "shop")
        shop.jobs("export", "shop", "taken", "--with-input")
        eventually(lambda: " running " in shop.jobs("list"))
        shop.jobs("stop", "shop")
        shop.jobs("remove", "shop", "--yes")
        shop.jobs("restore", "shop", "kept")
        shop.give("bob")
        shop.await_all()
    assert " submitted  savepoint kept" in shop.jobs("history", "shop")
    require_readable_without_us(Path("taken"))


def require_readable_without_us(folder: Path) -> None:
    """Make the results anew from what was exported, by nothing but polars."""
    rows = pl.read_parquet(folder / "input" / "views.parquet")
    made = rows.group_by("user").agg(rows=pl.len().cast(pl.Int64)).sort("user")
    kept = pl.read_parquet(folder / "results" / "counted.parquet").sort("_partition", "_offset")
    table = kept.unique("_key", keep="last").filter(~pl.col("_deleted"))
    assert table.select("user", "rows").sort("user").equals(made)
    known = pl.read_parquet(folder / "state" / "agg-1" / "keys.parquet")
    assert sorted(known["user"]) == sorted(made["user"])
    for name in ("definition.json", "plan.txt", "positions.json", "README.md", "source/shop.py"):
        assert (folder / name).stat().st_size
    assert (folder / "savepoint" / "savepoint.json").exists()
