from __future__ import annotations

import time
from pathlib import Path

import pytest

from penstock.jobs.store import job_store
from tests.cli.shell import Cli
from tests.jobs.records import JOB

HOME = Path(".penstock")


def happened(at: int, text: str) -> None:
    job_store(HOME).log("shop-1").write(at, "info", text)


@pytest.fixture
def shop(cli: Cli) -> Cli:
    _, lock = job_store(HOME).register(JOB)
    lock.close()
    return cli


def test_what_happened_is_shown_line_by_line(shop: Cli) -> None:
    assert "nothing has happened" in shop.ok("jobs", "logs", "shop-1").err
    for at in range(3):
        happened(1000 * at, f"line {at}")
    assert shop.ok("jobs", "logs", "shop-1", "--lines", "2").lines == [
        "1970-01-01T00:00:01.000Z  shop-1  info     line 1",
        "1970-01-01T00:00:02.000Z  shop-1  info     line 2",
    ]
    assert shop.ok("jobs", "logs", "shop-1", "-n", "1", "--json").json == {
        "run": "shop-1",
        "at": 2000,
        "level": "info",
        "text": "line 2",
    }
    assert "JOB_MISSING" in shop("jobs", "logs", "shop").err


def test_a_log_is_followed_until_an_interrupt(shop: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    happened(0, "first")
    coming = iter(["second", "third"])

    def sleep(_: float) -> None:
        text = next(coming, None)
        if text is None:
            raise KeyboardInterrupt
        happened(1, text)

    monkeypatch.setattr(time, "sleep", sleep)
    lines = shop.ok("jobs", "logs", "shop-1", "--follow").lines
    assert [line.split()[-1] for line in lines] == ["first", "second", "third"]


def test_a_run_of_no_job_has_no_history(shop: Cli) -> None:
    assert "JOB_UNDEFINED" in shop("jobs", "history", "shop-1").err
