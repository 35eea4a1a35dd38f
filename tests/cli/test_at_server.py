"""Commands give the same output and exit codes on a home and at its server."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from fastapi import FastAPI

from penstock.jobs.definition import Definition, Event
from penstock.jobs.definitions import definition_store
from penstock.jobs.store import job_store
from penstock.serve.access.policy import Policy
from penstock.serve.access.role import Role
from penstock.serve.access.token_file import TokenFile
from penstock.serve.application import application
from penstock.serve.opened import opened_platform
from penstock.serve.platform import Platform
from penstock.serve.server import HttpServer
from tests.cli.shell import Cli, Ran
from tests.jobs.records import JOB, PROGRESS

SHOP = Definition("shop", "shop.py:8", "shop", "ann", 1, "f", 1000, 1000, wish="stopped")


@pytest.fixture
def platform(cli: Cli) -> Iterator[Platform]:
    """The home of the working directory."""
    with opened_platform(Path(".penstock")) as found:
        yield found


@pytest.fixture
def server(platform: Platform) -> Iterator[str]:
    """The address of a server of that home, which has given out no token."""
    with HttpServer(application(platform)) as found:
        yield found.url


@pytest.fixture
def shop(platform: Platform) -> None:
    """A job that is stopped, after one run."""
    home = Path(".penstock")
    definition_store(home).put(SHOP, Event(1000, "ann", "submitted"), b"")
    store = job_store(home)
    checkpoint = str((home / "jobs" / "shop").absolute())
    job, lock = store.register(replace(JOB, name="shop", checkpoint=checkpoint))
    store.write(replace(job, state="stopped", ended_at=2000))
    store.write_progress(job.id, PROGRESS)
    lock.close()


def both(cli: Cli, server: str, *words: str) -> Ran:
    """Run a command on the home and at the server; what it says is the same."""
    here = cli(*words)
    there = cli(*words, "--server", server)
    assert (there.code, there.out) == (here.code, here.out), there.err
    return there


def test_topics_and_records_are_the_same_here_and_there(cli: Cli, server: str) -> None:
    at = ("--server", server)
    cli.ok("topics", "create", "visits", "--partitions", "2", "--set", "retention=7d", *at)
    cli.ok("produce", "visits", "--key-separator", ":", *at, stdin=b"a:one\nb:two\n")
    for words in (
        ("topics", "list"),
        ("topics", "list", "--json"),
        ("topics", "describe", "visits"),
        ("topics", "describe", "visits", "--json"),
        ("consume", "visits", "--no-wait", "--json"),
        ("consume", "visits", "--no-wait", "--show", "key", "--partition", "0"),
        ("consume", "nowhere", "--no-wait"),
        ("topics", "describe", "visit"),
        ("dlq", "list"),
        ("schemas", "list"),
        ("alerts", "list", "--json"),
    ):
        both(cli, server, *words)
    typed = ("topics", "create", "clicks", "--schema", "user bigint not null", *at)
    cli.ok(*typed)
    cli.ok("produce", "clicks", *at, stdin=b'{"user": 3}\n')
    assert cli("produce", "clicks", *at, stdin=b'{"usr": 3}\n').code == 1
    assert both(cli, server, "consume", "clicks", "--no-wait").out == '{"user": 3}\n'
    cli.ok("topics", "set", "clicks", "fsync=os", *at)
    cli.ok("topics", "clean", "clicks", *at)
    cli.ok("topics", "delete", "clicks", "--yes", *at)


def test_groups_read_and_are_set_at_a_server(cli: Cli, server: str) -> None:
    at = ("--server", server)
    cli.ok("produce", "visits", "--create", *at, stdin=b"1\n2\n3\n")
    read = ("consume", "visits", "--group", "g", "--from-beginning", "--max", "2", *at)
    assert cli.ok(*read).lines == ["1", "2"]
    assert both(cli, server, "groups", "list", "--json").json[0]["lag"] == 1
    cli.ok("groups", "reset", "g", "--topic", "visits", "--to", "earliest", *at)
    assert both(cli, server, "groups", "list", "--json").json[0]["lag"] == 3
    both(cli, server, "groups", "describe", "g", "--json")
    cli.ok("groups", "delete", "g", *at)


def test_schemas_and_sql_are_the_servers(cli: Cli, server: str) -> None:
    at = ("--server", server)
    Path("pay.avsc").write_text(
        '{"type": "record", "name": "Pay", "fields": [{"name": "sum", "type": "long"}]}'
    )
    cli.ok("schemas", "register", "pay-value", "pay.avsc", *at)
    both(cli, server, "schemas", "list")
    cli.ok("produce", "pay", "--create", "--format", "avro", *at, stdin=b'{"sum": 4}\n')
    assert (
        both(cli, server, "consume", "pay", "--no-wait", "--format", "avro").out == '{"sum": 4}\n'
    )
    cli.ok("sql", "-e", "CREATE STREAM s (a VARCHAR) WITH (KAFKA_TOPIC='s', PARTITIONS=1,"
           " VALUE_FORMAT='JSON');", *at)  # fmt: skip
    assert both(cli, server, "sql", "-e", "SHOW STREAMS;", "--json").json["rows"]


@pytest.mark.usefixtures("shop")
def test_jobs_are_seen_and_wished_of_at_a_server(cli: Cli, server: str) -> None:
    at = ("--server", server)
    for words in (
        ("jobs", "list"),
        ("jobs", "list", "--json"),
        ("jobs", "show", "shop"),
        ("jobs", "show", "shop", "--json"),
        ("jobs", "logs", "shop", "--json"),
        ("jobs", "history", "shop", "--json"),
        ("jobs", "show", "shp"),
        ("jobs", "resume", "shop"),
        ("jobs", "rewind", "nothing", "--to", "beginning"),
        ("metrics", "--name", "penstock_job_state", "--json"),
    ):
        both(cli, server, *words)
    assert cli.ok("jobs", "start", "shop", "--json", *at).json["wish"] == "running"
    assert cli.ok("jobs", "pause", "shop", "--json", *at).json["wish"] == "paused"
    assert cli.ok("jobs", "stop", "shop", *at).err == 'job "shop" is stopped\n'
    assert "removed" in cli.ok("jobs", "remove", "shop", "--yes", *at).err
    assert both(cli, server, "jobs", "list", "--json").json == []


def test_what_only_files_can_answer_is_refused(cli: Cli, server: str) -> None:
    cli.ok("topics", "create", "t", "--server", server)
    for words in (
        ("topics", "dump", "t"),
        ("log", "verify"),
        ("host",),
        ("transactions", "list"),
        ("alerts", "run"),
        ("metrics", "--serve", "0"),
        ("lineage", "--openlineage"),
    ):
        ran = cli(*words, "--server", server)
        assert (ran.code in {1, 2}, "SERVER_COMMAND" in ran.err) == (True, True), (words, ran)
    far = cli("jobs", "savepoint", "t", "a/b", "--server", server)
    assert "SERVER_PATH" in far.err


def test_a_server_that_is_away_or_another_is_named(cli: Cli) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nowhere = f"http://127.0.0.1:{free.getsockname()[1]}"
    jobs = cli("jobs", "list", "--server", nowhere)
    assert (jobs.code, "SERVER_AWAY" in jobs.err) == (1, True)
    topics = cli("topics", "list", "--server", nowhere)
    assert (topics.code, "LOG_UNREACHABLE" in topics.err) == (1, True)
    wrong = cli("jobs", "list", "--server", "127.0.0.1:80")
    assert (wrong.code, "CONFIG_VALUE" in wrong.err) == (1, True)


def test_what_answers_and_is_no_penstock_is_named(cli: Cli) -> None:
    with HttpServer(FastAPI()) as other:
        for words in (("jobs", "list"), ("topics", "list")):
            ran = cli(*words, "--server", other.url)
            assert (ran.code, "SERVER_OTHER" in ran.err) == (1, True), ran


def test_the_token_is_taken_from_the_variable_a_file_or_the_home(
    cli: Cli, platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = TokenFile(Path(".penstock"))
    word = tokens.create("ann", Role.READER)
    with HttpServer(application(platform, Policy(tokens))) as server:
        for words in (("jobs", "list"), ("topics", "list")):
            at = (*words, "--server", server.url, "--home", "elsewhere")
            nobody = cli(*at)
            assert (nobody.code, "TOKEN_NEEDED" in nobody.err) == (1, True), nobody
            assert "PENSTOCK_TOKEN" in nobody.err
            monkeypatch.setenv("PENSTOCK_TOKEN", "pst_wrong")
            assert "TOKEN_WRONG" in cli(*at).err
            monkeypatch.setenv("PENSTOCK_TOKEN", word)
            cli.ok(*at)
            monkeypatch.delenv("PENSTOCK_TOKEN")
            Path("token").write_text(f"{word}\n")
            cli.ok(*at, "--token-file", "token")
            assert "TOKEN_FILE" in cli(*at, "--token-file", "absent").err
        monkeypatch.setenv("PENSTOCK_TOKEN", word)
        refused = cli("topics", "create", "t", "--server", server.url)
        assert (refused.code, "ROLE_NEEDED" in refused.err) == (1, True)
        refused = cli("jobs", "pause", "shop", "--server", server.url)
        assert (refused.code, "ROLE_NEEDED" in refused.err) == (1, True)


PROGRAM = """
import penstock as ps
from steps import FLAG

app = ps.App("shop")
clicks = app.stream("clicks", schema={"page": str, "score": int})
clicks.filter(ps.col("score") > FLAG).to("good")
"""


def test_a_program_becomes_a_job_of_the_server(cli: Cli, server: str) -> None:
    at = ("--server", server)
    Path("steps.py").write_text("FLAG = 3\n")
    Path("shop.py").write_text(PROGRAM)
    made = cli.ok("jobs", "submit", "shop.py", "--paused", "--restarts", "2", *at)
    assert made.err == 'job "shop" is submitted, and is paused\n'
    again = cli.ok("jobs", "submit", "shop.py", "--paused", "--restarts", "2", "--json", *at)
    assert again.json["outcome"] == "unchanged"
    both(cli, server, "jobs", "show", "shop", "--stage", "physical")
    both(cli, server, "lineage", "shop")
    both(cli, server, "lineage", "--json")
    both(cli, server, "lineage", "--dot")
    assert "SERVER_PATH" in cli("jobs", "submit", "shop.py", "--checkpoint", "x", *at).err
