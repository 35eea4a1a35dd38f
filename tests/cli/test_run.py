from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.app import App
from penstock.model.physical import Settings
from tests.cli.shell import Cli, start

SHOP = 'import penstock as ps\napp = ps.App("shop")\n'
COUNTING = """
import penstock as ps

app = ps.App("shop")
views = app.stream("views", schema={"user": "string", "at": "timestamp"}, event_time="at")
views.group_by("user").window(ps.tumbling("1m")).agg(rows=ps.count()).to("counted")
"""


@pytest.fixture
def asked(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What programs were asked to do, instead of doing it."""
    found: list[dict[str, Any]] = []
    monkeypatch.setattr(App, "run", lambda app, **words: found.append({"name": app.name} | words))
    monkeypatch.setattr(sys, "path", [*sys.path])
    Path("shop.py").write_text(SHOP)
    return found


def test_a_program_is_run_with_the_defaults(cli: Cli, asked: list[dict[str, Any]]) -> None:
    cli.ok("run", "shop.py")
    assert asked == [
        {
            "name": "shop",
            "home": Path.cwd() / ".penstock",
            "checkpoint": None,
            "bounded": None,
            "settings": Settings(),
            "application": "",
            "rebuild": False,
            "restart": False,
        }
    ]


def test_a_program_is_run_here_with_the_state_store_of_the_settings(
    cli: Cli, asked: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(App, "run_here", lambda _, **words: asked.append(words))
    Path("penstock.toml").write_text('[state]\nstore = "external"\ndatabase = "kept/s.db"\n')
    cli.ok("run", "shop.py", "--here", "--bounded")
    cli.ok("run", "shop.py", "--here", "--store", "changelog", "--rebuild")
    first, second = (words["options"] for words in asked)
    assert (first.state, first.until) == ("external", "end")
    assert first.database == str(Path.cwd() / "kept" / "s.db")
    assert (second.state, second.until, second.rebuild) == ("changelog", "stopped", True)


def test_a_program_is_run_as_the_options_say(cli: Cli, asked: list[dict[str, Any]]) -> None:
    words = ["--bounded", "--parallelism", "4", "--buckets", "16", "--no-fuse"]
    cli.ok("run", "shop.py:app", *words, "--checkpoint", "kept", "--home", "log")
    (found,) = asked
    assert found["settings"] == Settings(buckets=16, parallelism=4, fuse=False)
    assert (found["bounded"], found["checkpoint"]) == (True, Path("kept"))
    assert found["home"] == Path.cwd() / "log"


def test_a_program_that_does_not_exist_is_a_wrong_command_line(cli: Cli) -> None:
    assert cli("run", "none.py").code == 2


@pytest.mark.spark
@pytest.mark.slow
def test_a_running_program_is_seen_and_stopped_from_another_process(cli: Cli) -> None:
    Path("shop.py").write_text(COUNTING)
    cli.ok("topics", "create", "views", "--schema", "user string, at timestamp")
    rows = ('{"user": "ann", "at": "2026-01-01T00:00:01Z"}', '{"user": "ann", "at": "2026-01-02"}')
    cli.ok("produce", "views", stdin="\n".join(rows).encode())
    with start("run", "shop.py") as runner:
        try:
            until(lambda: runner.poll() is not None or shown(cli)["progress"] is not None)
            found = shown(cli)
            assert (found["state"], found["pid"]) == ("running", runner.pid)
            assert [element["id"] for element in found["elements"]] == [
                "scan-views",
                "agg-1",
                "out-counted",
            ]
            held = cli.ok("explain", "shop.py", "--stage", "watermark", "--job", "shop-1").lines[-1]
            assert held.startswith("    scan-views partition 0: 2026-01-02T00:00:00.000Z since")
            cli.ok("jobs", "stop", "shop-1")
            assert runner.wait(30) == 0
        finally:
            runner.kill()
    assert shown(cli)["state"] == "stopped"
    (counted,) = map(json.loads, cli.ok("consume", "counted", "--no-wait").lines)
    assert (counted["user"], counted["rows"]) == ("ann", 1)


def shown(cli: Cli) -> dict[str, Any]:
    ran = cli("jobs", "show", "shop-1", "--json")
    found: dict[str, Any] = ran.json if ran.code == 0 else {"progress": None}
    return found


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 100
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.2)
