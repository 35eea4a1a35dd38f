from __future__ import annotations

import sys
from pathlib import Path

import pytest

from penstock.jobs.store import job_store
from tests.cli.shell import Cli
from tests.jobs.records import JOB, PROGRESS

SHOP = """
import penstock as ps

app = ps.App("shop")
views = app.stream("views", schema={"user": "string", "at": "timestamp"}, event_time="at")
views.group_by("user").window(ps.tumbling("1m")).agg(rows=ps.count()).to("counted")
"""


@pytest.fixture
def shop(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> str:
    """A program in a file."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    Path("shop.py").write_text(SHOP)
    return "shop.py:app"


def test_all_stages_are_explained(cli: Cli, shop: str) -> None:
    lines = cli.ok("explain", shop).lines
    heads = [line.split()[0] for line in lines if line and not line.startswith(" ")]
    assert heads == ["MODEL", "LOGICAL", "PHYSICAL", "WATERMARK", "STATE"]


def test_one_stage_is_explained_with_the_settings_asked_for(cli: Cli, shop: str) -> None:
    words = ["--stage", "physical", "--parallelism", "3", "--buckets", "5", "--no-fuse"]
    first = cli.ok("explain", shop, *words).lines[0]
    assert first.startswith("PHYSICAL")
    assert "5 buckets, parallelism 3, not fused" in first


def test_stages_are_given_as_json(cli: Cli, shop: str) -> None:
    found = cli.ok("explain", shop, "--json").json
    assert list(found) == ["model", "logical", "physical", "watermark", "state"]
    assert found["model"][0] == "MODEL  program shop"


def test_a_running_job_shows_its_processes_and_who_holds_its_windows(cli: Cli, shop: str) -> None:
    store = job_store(Path(".penstock"))
    _, lock = store.register(JOB)
    store.write_progress("shop-1", PROGRESS)
    text = cli.ok("explain", shop, "--job", "shop-1").out
    lock.close()
    assert "jvm (pid 43)" in text
    assert "holds the windows open" in text
    assert cli("explain", shop, "--job", "none").code == 1


def test_a_file_that_is_not_there_is_a_wrong_command_line(cli: Cli) -> None:
    ran = cli("explain", "none.py")
    assert (ran.code, ran.out) == (2, "")
    assert "PROGRAM_FILE" in ran.err
