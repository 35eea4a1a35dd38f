from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from penstock.jobs.host_file import host_file
from tests.cli.shell import Cli, start


@contextmanager
def serving(*words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server that does not outlive its test, and its address."""
    with start("serve", "--port", "0", "--no-pages", "--json", *words) as server:
        try:
            assert server.stdout is not None
            yield server, json.loads(server.stdout.readline())["url"]
        finally:
            server.kill()


@pytest.mark.kill
def test_it_answers_says_its_address_refuses_a_second_one_and_ends_clean(
    cli: Cli, working_directory: Path
) -> None:
    with serving("--no-jobs") as (server, url):
        assert httpx.get(f"{url}/healthz").json() == {"status": "ok"}
        assert httpx.get(f"{url}/readyz").status_code == 200
        second = cli("serve", "--port", "0")
        assert second.code == 1
        assert f"[SERVER_RUNNING] process {server.pid} at {url}" in second.err
        taken = cli("--home", "other", "serve", "--no-pages", "--port", url.rpartition(":")[2])
        assert "[PORT_TAKEN]" in taken.err
        shown = cli.ok("sql", "--server", url, "-e", "SHOW STREAMS;")
        assert "stream" in shown.out
        server.send_signal(signal.SIGTERM)
        _, said = server.communicate(timeout=30)
    assert server.returncode == 0, said
    assert said.splitlines() == ["starting", "serving without jobs; Ctrl-C stops", "ending"]
    lines = (working_directory / ".penstock" / "server" / "log.jsonl").read_text().splitlines()
    assert [json.loads(line)["path"] for line in lines][:2] == ["/healthz", "/readyz"]


@pytest.mark.kill
def test_where_a_host_runs_already_it_serves_without_jobs_and_says_so(
    working_directory: Path,
) -> None:
    home = working_directory / ".penstock"
    lock = host_file(home).take()
    (home / "host" / "host.json").write_text(
        '{"pid": 1, "user": "u", "machine": "m", "since": 0, "jobs": [], "processes": []}'
    )
    with serving("--log", "json") as (server, url):
        assert httpx.get(f"{url}/readyz").status_code == 200
        server.send_signal(signal.SIGTERM)
        _, said = server.communicate(timeout=30)
    lock.close()
    assert "process 1 hosts the jobs of this home already; serving without them" in said
    assert '"path":"/readyz","status":200' in said


@pytest.mark.usefixtures("working_directory")
def test_it_is_for_this_machine_only_until_there_are_tokens(cli: Cli) -> None:
    refused = cli("serve", "--host", "0.0.0.0", "--port", "0")
    assert refused.code == 1
    assert "[SERVER_OPEN]" in refused.err
    assert "penstock serve token create" in refused.err


@pytest.mark.usefixtures("working_directory")
@pytest.mark.parametrize("origin", ["*", "pages.example", "https://a.example/x", "ftp://a"])
def test_an_origin_is_written_as_browsers_do(cli: Cli, origin: str) -> None:
    refused = cli("serve", "--allow-origin", origin, "--port", "0")
    assert (refused.code, "[ORIGIN_FORM]" in refused.err) == (2, True)


@pytest.mark.usefixtures("working_directory")
def test_tokens_are_made_shown_once_listed_and_revoked(cli: Cli) -> None:
    made = cli.ok("serve", "token", "create", "--role", "reader", "--name", "grafana")
    (word,) = made.lines
    assert word.startswith("pst_")
    assert "not shown again" in made.err
    listed = cli.ok("serve", "token", "list")
    assert word not in listed.out
    assert listed.lines[1].split()[:2] == ["grafana", "reader"]
    taken = cli("serve", "token", "create", "--role", "admin", "--name", "grafana")
    assert (taken.code, "[TOKEN_EXISTS]" in taken.err) == (2, True)
    missing = cli("serve", "token", "revoke", "grafena")
    assert 'Did you mean "grafana"?' in missing.err
    revoked = cli.ok("serve", "token", "revoke", "grafana")
    assert "everybody" in revoked.err
    assert cli.ok("serve", "token", "list", "--json").json == []
    assert cli("serve", "token", "create", "--role", "king", "--name", "a").code == 2
