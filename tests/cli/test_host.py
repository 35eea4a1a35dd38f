from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from penstock.jobs.host import Host
from penstock.jobs.host_file import host_file
from penstock.model.job_settings import JobSettings
from penstock.serve import hosting
from tests.cli.shell import Cli
from tests.eventually import eventually
from tests.jobs.hosted import SOON, FakeJob


@pytest.fixture
def cli(
    working_directory: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Cli:
    return Cli(capsys, monkeypatch)


def test_the_status_of_a_host_lists_workers_and_what_runs_where(
    cli: Cli, working_directory: Path
) -> None:
    isolated = FakeJob("alone", settings=JobSettings(isolation="process", restart=SOON))
    jobs = [FakeJob("shop"), isolated]
    host = Host(working_directory / ".penstock", lambda: [job.runnable for job in jobs], look=0.01)
    with host.started():
        eventually(lambda: {job.state for job in host.view.jobs} == {"running"})
        eventually(lambda: host_file(working_directory / ".penstock").view() == host.view)
        lines = cli.ok("host", "status").lines
        assert lines[0].startswith(f"host {os.getpid()} of ")
        assert lines[1].split() == ["job", "state", "since", "where", "run", "restarts", "failure"]
        assert [line.split()[:2] for line in lines[2:]] == [
            ["alone", "running"],
            ["shop", "running"],
        ]
        assert "host" in lines[3].split()
        document = json.loads(cli.ok("host", "status", "--json").out)
    assert document["pid"] == os.getpid()
    assert [worker["jobs"] for worker in document["workers"]] == [["alone"]]
    assert {job["name"]: job["run"] for job in document["jobs"]} == {
        "alone": "alone-1",
        "shop": "shop-1",
    }
    refused = cli("host", "status")
    assert refused.code == 1
    assert "HOST_MISSING" in refused.err
    assert f"process {os.getpid()} did, and is gone" in refused.err


def test_a_host_is_not_given_a_job(cli: Cli) -> None:
    refused = cli("host", "status", "shop")
    assert refused.code == 2
    assert "HOST_ACTION" in refused.err


def test_a_host_until_idle_fails_where_a_job_has(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    failures: dict[str, BaseException] = {}
    monkeypatch.setattr(hosting, "run_until_idle", lambda *_, **__: failures)
    assert cli("host", "--until-idle").code == 0
    failures["shop"] = ValueError("no")
    assert cli("host", "--until-idle").code == 1
