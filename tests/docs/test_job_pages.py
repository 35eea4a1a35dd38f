"""The pages on jobs, on Spark, are read from top to bottom, and what they say is done."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.jobs.host_file import host_file
from penstock.log.open import open_log
from penstock.spark.session import spark_session, stop_session
from tests.cli.shell import Cli
from tests.docs.pages import DOCS
from tests.docs.reader import BLOCK, Reader

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]
CLICKS = (
    '{"user": 1, "page": "home", "at": "2026-03-02T08:00:05Z"}',
    '{"user": 2, "page": "cart", "at": "2026-03-02T08:00:40Z"}',
    '{"user": 1, "page": "home", "at": "2026-03-02T08:01:10Z"}',
)
STATEMENTS = """
CREATE STREAM sales (item STRING, amount INT)
  WITH (KAFKA_TOPIC='sales', VALUE_FORMAT='JSON', PARTITIONS=1);
CREATE STREAM big AS SELECT * FROM sales WHERE amount > 10;
CREATE STREAM small AS SELECT * FROM sales WHERE amount < 10;
"""


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    yield spark_session(master="local[2]")
    stop_session()


@pytest.fixture
def cli(
    working_directory: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Cli]:
    """A terminal in an empty directory, with the shop of the page on jobs."""
    monkeypatch.setattr(sys, "path", [str(working_directory), *sys.path])
    terminal = Cli(capsys, monkeypatch)
    (program, *_) = re.findall(r"```python\n(.*?)```", (DOCS / "jobs.md").read_text(), re.DOTALL)
    Path("shop.py").write_text(program)
    columns = "user bigint, page string, at timestamp"
    terminal.ok("topics", "create", "clicks", "--schema", columns)
    terminal.ok("produce", "clicks", stdin="\n".join(CLICKS).encode())
    yield terminal
    sys.modules.pop("shop", None)


def test_the_page_on_guarantees(cli: Cli, spark: SparkSession) -> None:
    Reader(cli).reads("guarantees.md")


def test_the_page_on_savepoints(cli: Cli, spark: SparkSession) -> None:
    cli.ok("jobs", "submit", "shop.py")
    cli.ok("host", "--until-idle")
    Reader(cli).reads("savepoints.md")
    (listed,) = re.findall(r"```text\n(.*?)```", (DOCS / "savepoints.md").read_text(), re.DOTALL)
    names = set(re.findall(r"^  ([\w.]+)", listed, re.MULTILINE))
    # Tables that are read once are not in this program.
    assert names == {path.name for path in Path("kept/monday").iterdir()} | {"static"}


def test_the_page_on_spark(cli: Cli, spark: SparkSession) -> None:
    # The JVM works in another directory, and a home is served to the connector as it is.
    home = str(Path(".penstock").absolute())
    Reader(cli, swaps={".penstock": home, "127.0.0.1:9092": home}).reads("spark.md")


def test_the_page_on_upgrades(cli: Cli) -> None:
    Path("shop").mkdir()
    program = Path("shop/shop.py")
    Path("shop.py").rename(program)
    Path("shop/penstock.toml").write_text(f'home = "{Path(".penstock").absolute()}"\n')
    cli.ok("apply", "shop")
    program.write_text(program.read_text().replace("ps.count()", "ps.count_distinct('user')"))
    Reader(cli, codes={"penstock plan": 2}).reads("upgrades.md")
    assert 'upgrade = "from now"' in Path("penstock.toml").read_text()
    history = [event["what"] for event in cli.ok("jobs", "history", "shop", "--json").json]
    assert history == ["submitted", "upgraded", "rolled back"]


def hosted(command: str) -> bool:
    """Whether all jobs run, where the command runs jobs."""
    view = host_file(Path(".penstock")).view()
    jobs = view.jobs if view is not None and view.alive else ()
    return "host" not in command or {job.state for job in jobs} == {"running"}


def records(topic: str) -> int:
    with open_log(".penstock") as log:
        return sum(bounds.end for bounds in log.snapshot([topic]).values())


def test_the_page_on_many_jobs(cli: Cli, spark: SparkSession) -> None:
    cli.ok("topics", "create", "orders")
    cli.ok("sql", "-e", STATEMENTS)
    cli.ok("produce", "sales", stdin=b'{"item": "a", "amount": 11}\n{"item": "b", "amount": 9}\n')
    reader = Reader(cli, works=lambda command: hosted(command) and bool(records("BIG")))
    reader.reads("many-jobs.md")
    assert "clicks" in reader.said["penstock groups describe shop"]
    for topic in ("BIG", "SMALL"):
        assert len(cli.ok("consume", topic, "--no-wait").lines) == 1


SHOP = """
import penstock as ps

app = ps.App("shop")
clicks = app.stream(
    "clicks",
    format="json",
    schema={"user": "int64", "page": "string", "at": "timestamp"},
    event_time="at",
)
clicks.group_by("page").window(ps.tumbling("1 minute")).agg(clicks=ps.count()).to("clicks_by_page")
"""
RULE = """
[alerts.lagging]
job = "*"
when = "lag > 1000"
to = ["topic:alerts"]
"""


def test_the_page_on_operations(cli: Cli, spark: SparkSession) -> None:
    cli.ok("topics", "delete", "clicks", "--yes")
    cli.ok("topics", "create", "clicks")
    Path("shop.py").write_text(SHOP)
    Path("penstock.toml").write_text(RULE)
    cli.ok("jobs", "submit", "shop.py")
    hour_later = CLICKS[-1].replace("T08", "T09")
    for rows in ([*CLICKS, "damaged", hour_later], CLICKS):
        cli.ok("produce", "clicks", stdin="\n".join(rows).encode())
        cli.ok("host", "--until-idle")
    reader = Reader(cli, works=hosted)
    crash = "## After a crash"
    reader.beside("penstock host", lambda: reader.reads("operations.md", end=crash))
    reader.reads("operations.md", begin=crash)
    assert reader.said["penstock consume clicks_by_page.late --no-wait"]


def test_the_page_on_recovery(cli: Cli) -> None:
    (commands, _) = BLOCK.findall((DOCS / "recovery.md").read_text(encoding="utf-8"))
    submit, host = commands[1].splitlines()
    Reader(cli).types([(submit, "")])
    assert "recovery     active" in cli.ok("jobs", "show", "shop").lines
    # A standby is a second Spark: tests of faults start both, and kill the lead.
    assert host == "penstock host"
