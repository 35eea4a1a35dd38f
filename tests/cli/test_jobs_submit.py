from __future__ import annotations

import sys
from datetime import timedelta
from pathlib import Path

import pytest

from penstock.errors import UsageError
from penstock.jobs.definitions import definition_store
from penstock.jobs.rewind_place import parse_to
from penstock.log.record import TopicPartition
from tests.cli.shell import Cli

HOME = Path(".penstock")
SHOP = """
import penstock as ps

app = ps.App("shop", how=ps.JobSettings(guarantee="at-most-once", batch_rows=7, trim=True))
views = app.stream("views", schema={"user": "string", "at": "timestamp"}, event_time="at")
views.group_by("user").agg(rows=ps.count()).to("counted")
"""


@pytest.fixture
def shop(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    monkeypatch.setattr(sys, "path", [*sys.path])
    Path("shop.py").write_text(SHOP)
    return cli


def test_a_program_in_a_file_becomes_a_job(shop: Cli) -> None:
    said = shop.ok("jobs", "submit", "shop.py").err
    assert said.splitlines() == [
        'job "shop" is submitted, and is to run',
        "no host runs the jobs of this home now; start one with: penstock host",
    ]
    assert "is unchanged" in shop.ok("jobs", "submit", "shop.py:app").err
    job = definition_store(HOME).get("shop")
    assert job.source == str(Path("shop.py").absolute())
    assert [job["name"] for job in shop.ok("jobs", "list", "--json").json] == ["shop"]
    head, line = shop.ok("jobs", "list").lines
    assert head.split()[:7] == [
        *("job", "application", "wish", "state", "version", "lag", "watermark"),
    ]
    assert line.split()[:6] == ["shop", "shop", "running", "waiting", "1", "-"]


def test_a_flag_wins_over_the_file_and_the_file_over_the_program(shop: Cli) -> None:
    Path("penstock.toml").write_text(
        '[jobs.shop]\nbatch_rows = 8\nlatency = "1s"\nrestarts = 3\n'
        '[jobs.other]\nisolation = "process"\n'
    )
    shop.ok("jobs", "submit", "shop.py", "--latency", "500ms", "--recovery", "upstream", "--paused")
    job = definition_store(HOME).get("shop")
    how = job.settings
    assert (how.guarantee, how.batch_rows, how.recovery) == ("at-most-once", 8, "upstream")
    assert (how.latency, how.restart.tries, how.trim) == (timedelta(seconds=0.5), 3, True)
    assert job.wish == "paused"
    done = shop.ok("jobs", "submit", "shop.py", "--name", "other", "--bounded", "--json").json
    assert (done["outcome"], done["bounded"]) == ("new", True)
    assert done["settings"]["isolation"] == "process"
    said = shop.ok("jobs", "submit", "shop.py", "--recovery", "upstream", "--latency", "1s").err
    assert said.splitlines()[0] == 'job "shop" has other settings: latency 0:00:01'


def test_another_program_under_the_name_is_refused(shop: Cli) -> None:
    shop.ok("jobs", "submit", "shop.py")
    Path("shop.py").write_text(SHOP.replace('"user").agg', '"at").agg'))
    ran = shop("jobs", "submit", "shop.py")
    assert ran.code == 1
    assert "JOB_CHANGED" in ran.err


def test_a_word_that_is_misspelt_in_the_file_is_refused(shop: Cli) -> None:
    Path("penstock.toml").write_text('[jobs.shop]\nguarante = "exactly-once"\n')
    assert "CONFIG_KEY" in shop("jobs", "submit", "shop.py").err


def test_a_job_is_paused_resumed_stopped_started_and_removed(shop: Cli) -> None:
    shop.ok("jobs", "submit", "shop.py")
    assert shop.ok("jobs", "pause", "shop").err == 'job "shop" is paused\n'
    assert shop.ok("jobs", "resume", "shop", "--json").json["wish"] == "running"
    assert shop.ok("jobs", "stop", "shop").err == 'job "shop" is stopped\n'
    assert "JOB_NOT_PAUSED" in shop("jobs", "resume", "shop").err
    assert 'job "shop" is to run' in shop.ok("jobs", "start", "shop").err
    assert "JOB_RUNNING" in shop("jobs", "remove", "shop", "--yes").err
    assert shop.ok("jobs", "cancel", "shop", "--json").json["wish"] == "stopped"
    told = [event["what"] for event in shop.ok("jobs", "history", "shop", "--json").json]
    assert told == ["submitted", "paused", "resumed", "stopped", "started", "cancelled"]
    assert shop("jobs", "remove", "shop", stdin=b"n\n").code == 1
    assert shop.ok("jobs", "remove", "shop", "--yes").err == 'job "shop" is removed\n'
    assert "JOB_MISSING" in shop("jobs", "pause", "shop").err


def test_a_page_about_a_job_has_its_settings_plans_and_history(shop: Cli) -> None:
    shop.ok("jobs", "submit", "shop.py", "--latency", "1s", "--batch-every", "5s")
    lines = shop.ok("jobs", "show", "shop").lines
    assert lines[:2] == [
        "job          shop, of application shop",
        "state        waiting; it is to run",
    ]
    assert "guarantee    at-most-once" in lines
    assert "batches      at most 7 rows, at most 1s long, one every 5s" in lines
    assert "no run yet" in lines
    assert lines[-1].split()[2] == "submitted"
    logical = shop.ok("jobs", "show", "shop", "--stage", "logical").out
    assert "aggregate by user" in logical
    found = shop.ok("jobs", "show", "shop", "--stage", "physical", "--json").json
    assert found["versions"] == [1]
    assert any("agg-1: 4 instances" in line for line in found["plan"]["physical"])


def test_a_copy_is_made_of_a_job_that_has_not_run(shop: Cli) -> None:
    shop.ok("jobs", "submit", "shop.py")
    made = shop.ok("jobs", "clone", "shop", "try", "--topic", "counted=tried", "--json").json
    assert (made["name"], made["wish"]) == ("try", "running")
    assert "tried" in shop.ok("jobs", "show", "try", "--stage", "model").out
    assert "CLONE_TOPIC" in shop("jobs", "clone", "shop", "again", "--topic", "counted").err


@pytest.mark.parametrize(
    ("words", "place"),
    [
        (["beginning"], "beginning"),
        (["end"], "end"),
        (["a:0=4", "b.c:1=0"], {TopicPartition("a", 0): 4, TopicPartition("b.c", 1): 0}),
    ],
)
def test_a_place_to_rewind_to_is_a_word_a_time_or_offsets(words: list[str], place: object) -> None:
    assert parse_to(words) == place


def test_a_time_to_rewind_to_has_a_zone() -> None:
    assert str(parse_to(["2026-01-31T12:00"])) == "2026-01-31 12:00:00+00:00"


@pytest.mark.parametrize("words", [["a:x=1"], ["a=1"], ["beginning", "end"]])
def test_what_is_no_place_is_refused(words: list[str]) -> None:
    with pytest.raises(UsageError, match="REWIND_PLACE"):
        parse_to(words)
