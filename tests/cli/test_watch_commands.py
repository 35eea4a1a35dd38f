from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from penstock.clock import SYSTEM_CLOCK
from penstock.jobs.job import Job
from penstock.jobs.record import JobRecord
from penstock.jobs.store import job_store
from penstock.log.open import open_log
from tests.cli.shell import Cli
from tests.jobs.records import JOB, PROGRESS
from tests.watch.http_server import HttpServer
from tests.watch.scenes import Scene

SETTINGS = """
[alerts.failing_pages]
table = "errors"
when = "count > 10"
group_every = "0s"
to = ["webhook:{url}/t0ken"]

[alerts.big]
stream = "errors"
when = "count > 100"

[alerts.silent]
stream = "errors"
absent = "1 hour"
"""
PROGRAM = """
import penstock as ps

app = ps.App("shop")
views = app.stream("views", schema={"page": str, "ms": int})
views.group_by("page").agg(total=ps.sum("ms")).to("totals")
"""


@pytest.fixture
def scene(cli: Cli) -> Scene:
    """A home with errors of two pages, and three rules."""
    (Path.cwd() / "penstock.toml").write_text(SETTINGS.format(url="http://127.0.0.1:9"))
    found = Scene(Path.cwd() / ".penstock")
    found.clock.advance(SYSTEM_CLOCK.now() - found.clock.now())
    found.topic("errors")
    found.put("errors", {"pageid": "P1", "count": 120}, {"pageid": "P2", "count": 3})
    return found


def test_rules_are_listed_with_what_fires(cli: Cli, scene: Scene) -> None:
    before = cli.ok("alerts", "list")
    assert [line.split()[0] for line in before.lines] == ["rule", "big", "failing_pages", "silent"]
    assert "nobody watches" in before.err
    ran = cli.ok("alerts", "run", "--once")
    assert re.fullmatch(r"\S+Z  firing     failing_pages: count > 10 in .*P1.*", ran.lines[0])
    after = cli.ok("alerts", "list")
    assert "1 firing" in after.lines[2]
    assert after.lines[-1].startswith("failing_pages  firing")
    document = cli.ok("alerts", "list", "--json").json
    assert document["watched"] is False
    rule = next(item for item in document["rules"] if item["rule"] == "failing_pages")
    assert rule["alerts"][0]["value"] == {"_key": "P1", "count": 120}
    assert rule["to"] == ["webhook:http://127.0.0.1:9/..."]


def test_what_is_written_down_is_not_written_again(cli: Cli, scene: Scene) -> None:
    assert len(cli.ok("alerts", "run", "--once", "--json").lines) == 1
    assert cli.ok("alerts", "run", "--once").lines == []
    shown = cli.ok("consume", "alerts", "--from-beginning", "--max", "1", "--json")
    assert "failing_pages" in shown.out


def test_without_rules_and_without_a_log_there_is_nothing_to_list(cli: Cli) -> None:
    assert "there are no rules" in cli.ok("alerts", "list").err
    assert cli.ok("alerts", "list", "--json").json["rules"] == []


def test_a_rule_is_tried_without_a_trace(cli: Cli, scene: Scene) -> None:
    assert cli.ok("alerts", "test", "failing_pages").lines[1].startswith('{"_key":"P1"}')
    assert len(cli.ok("alerts", "test", "big", "--json").json) == 1
    assert "holds for nothing" in cli.ok("alerts", "test", "silent").err
    with open_log(scene.home) as log:
        assert (log.topics(), log.groups()) == (("errors",), ())


def test_a_trial_reaches_the_receivers_and_a_token_nobody(cli: Cli, scene: Scene) -> None:
    with HttpServer() as server:
        (Path.cwd() / "penstock.toml").write_text(SETTINGS.format(url=server.url))
        ran = cli.ok("alerts", "test", "failing_pages", "--send")
    assert server.posted[0].path == "/t0ken"
    assert "a trial" in server.posted[0].json["alerts"][0]["message"]
    assert f"sent to webhook:{server.url}/..." in ran.err
    (Path.cwd() / "penstock.toml").write_text(SETTINGS.format(url=server.url))
    refused = cli("alerts", "test", "failing_pages", "--send")
    assert refused.code == 1
    assert "WEBHOOK_UNREACHABLE" in refused.err
    assert "t0ken" not in refused.err + refused.out
    assert "t0ken" not in cli("--debug", "config", "show", "--origin").out


def test_a_rule_is_silenced_and_told_again(cli: Cli, scene: Scene) -> None:
    made = cli.ok("alerts", "silence", "big", "--for", "2h", "--reason", "release", "--json")
    assert made.json["rule"] == "big"
    (silence,) = cli.ok("alerts", "list", "--json").json["rules"][0]["silences"]
    assert silence["reason"] == "release"
    cli.ok("alerts", "silence", "big", "--end")
    assert cli.ok("alerts", "list", "--json").json["rules"][0]["silences"] == []
    assert "ALERT_SILENCE" in cli("alerts", "silence", "big").err


def test_a_rule_that_does_not_exist_is_named_and_corrected(cli: Cli, scene: Scene) -> None:
    ran = cli("alerts", "test", "failing_page")
    assert ran.code == 2
    assert "ALERT_MISSING" in ran.err
    assert 'Did you mean "failing_pages"?' in ran.err


def a_run(home: Path) -> Job:
    with JobRecord(job_store(home), JOB) as record:
        record.progress(PROGRESS)
    return record.job


def test_measurements_are_printed_as_text_and_json(cli: Cli, scene: Scene) -> None:
    a_run(scene.home)
    text = cli.ok("metrics").out
    assert 'penstock_rows_total{job="shop",operator="agg-1",what="late"} 2\n' in text
    assert 'penstock_topic_records{topic="errors",partition="0"} 2\n' in text
    (one,) = cli.ok("metrics", "--name", "penstock_batches_total", "--json").json
    assert (one["labels"], one["value"]) == ({"job": "shop"}, 8)


def test_the_lineage_of_a_program_is_shown_in_four_forms(cli: Cli) -> None:
    Path("shop.py").write_text(PROGRAM)
    assert cli.ok("lineage", "shop.py").lines == [
        "job shop reads topic views",
        "  writes topic totals",
        "    page <- views.page (identity)",
        "    total <- views.ms (aggregation)",
    ]
    (document,) = cli.ok("lineage", "shop.py:app", "--json").json
    assert document["writes"][0]["columns"]["total"] == [
        {"topic": "views", "column": "ms", "how": "aggregation"}
    ]
    assert '  "views" -> "job:shop";' in cli.ok("lineage", "shop.py", "--dot").lines
    event = json.loads(cli.ok("lineage", "shop.py", "--openlineage").lines[0])
    assert event["outputs"][0]["name"] == "totals"
    assert "LINEAGE_FORM" in cli("lineage", "shop.py", "--dot", "--json").err


def test_without_jobs_there_is_no_lineage(cli: Cli) -> None:
    assert "there are no jobs" in cli.ok("lineage").err
