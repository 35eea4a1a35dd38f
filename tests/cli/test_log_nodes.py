from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from penstock.log.remote.client import RemoteLog
from tests.cli.shell import Cli, start


@contextmanager
def serving(*words: str) -> Iterator[subprocess.Popen[str]]:
    """A server that does not outlive its test."""
    with start("log", "serve", *words) as server:
        try:
            yield server
        finally:
            server.kill()


@pytest.mark.kill
@pytest.mark.parametrize("word", [signal.SIGINT, signal.SIGTERM])
def test_a_server_prints_its_address_and_is_listed_until_it_is_stopped(
    cli: Cli, working_directory: Path, word: signal.Signals
) -> None:
    with serving() as server:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        (node,) = cli.ok("log", "nodes", "--json").json
        assert (node["address"], node["pid"]) == (address, server.pid)
        assert set(node) == {"node_id", "pid", "address", "started_at"}
        head, row = cli.ok("log", "nodes").lines
        assert head.split() == ["node_id", "pid", "address", "started_at"]
        assert row.split()[:3] == [node["node_id"], str(server.pid), address]
        with RemoteLog(address, home=working_directory / ".penstock") as log:
            log.create_topic("clicks")
        assert "clicks" in cli.ok("topics", "list").out
        server.send_signal(word)
        assert server.wait(20) == 0
    assert cli.ok("log", "nodes", "--json").json == []


@pytest.mark.kill
@pytest.mark.usefixtures("working_directory")
def test_a_server_tells_a_program_in_json_where_it_is() -> None:
    with serving("--port", "0", "--json") as server:
        assert server.stdout is not None
        node = json.loads(server.stdout.readline())
        assert node["address"].startswith("tcp://127.0.0.1:")
        assert node["pid"] == server.pid


def test_no_server_is_said_and_makes_no_directory(cli: Cli, working_directory: Path) -> None:
    assert "penstock log serve" in cli.ok("log", "nodes").err
    assert list(working_directory.iterdir()) == []


def test_a_port_that_is_none_is_a_misuse(cli: Cli) -> None:
    assert cli("log", "serve", "--port", "70000").code == 2
