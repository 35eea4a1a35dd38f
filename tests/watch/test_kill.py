"""Who watches is killed, and who watches next goes on."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.log.open import open_log
from penstock.watch.ledger import alert_topics, end_of, written
from tests.cli.shell import start
from tests.watch.http_server import HttpServer
from tests.watch.scenes import Scene


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.kill
def test_an_alert_is_fired_once_and_told_under_one_id_however_often_who_watches_is_killed(
    working_directory: Path,
) -> None:
    scene = Scene(working_directory / ".penstock")
    scene.clock.advance(time.time_ns() // 1_000_000 - scene.clock.now())
    scene.topic("errors")
    scene.put("errors", {"pageid": "P1", "count": 12})
    with HttpServer([503]) as server:
        (working_directory / "penstock.toml").write_text(
            '[alerts.failing]\ntable = "errors"\nwhen = "count > 10"\ngroup_every = "0s"\n'
            f'to = ["webhook:{server.url}"]\n'
        )
        for tries in (1, 2):
            with start("alerts", "run") as process:
                until(lambda tries=tries: len(server.posted) >= tries)  # type: ignore[misc]
                process.kill()
        ids = {alert["id"] for item in server.posted for alert in item.json["alerts"]}
    with open_log(scene.home) as log:
        assert alert_topics(log) == ("alerts",)
        states = [alert.state for _, alert in written(log, "alerts", 0, end_of(log, "alerts"))]
    assert states == ["firing"]
    assert len(ids) == 1
