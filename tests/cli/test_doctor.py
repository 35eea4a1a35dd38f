from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from penstock.cli.main import run
from penstock.doctor import runtime
from penstock.doctor.examine import CHECKS


@pytest.fixture(autouse=True)
def _few_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    # Loading pyspark and pandas takes seconds; tests/doctor has a test that does.
    monkeypatch.setattr(runtime, "PACKAGES", ("typer",))


@pytest.fixture
def _old_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'java version \"1.8.0_402\"' >&2\n")
    java.chmod(0o755)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", f"{java.parent}:/usr/bin:/bin")


@pytest.mark.usefixtures("_old_java", "working_directory")
def test_doctor_says_cause_and_fix_and_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor"]) == 1
    lines = capsys.readouterr().out.splitlines()
    java = next(i for i, line in enumerate(lines) if line.split()[:2] == ["failed", "java"])
    assert "[JAVA_TOO_OLD] Spark needs Java 17 or newer" in lines[java]
    assert "1.8.0_402" in lines[java]
    assert lines[java + 1].strip().startswith("Install Java 17 or newer")
    assert lines[-1].split(maxsplit=2) == ["skipped", "spark", "needs what failed: java"]


@pytest.mark.usefixtures("_old_java", "working_directory")
def test_doctor_json_has_one_finding_a_check(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor", "--json"]) == 1
    findings = json.loads(capsys.readouterr().out)
    assert [finding["check"] for finding in findings] == list(CHECKS)
    assert [f["code"] for f in findings if f["verdict"] == "failed"] == ["JAVA_TOO_OLD"]


def test_doctor_quick_is_content_with_a_good_machine_and_leaves_nothing(
    working_directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["doctor", "--quick", "--json"]) == 0
    verdicts = {f["check"]: f["verdict"] for f in json.loads(capsys.readouterr().out)}
    assert verdicts.pop("spark") == "skipped"
    assert set(verdicts.values()) == {"ok"}
    assert list(working_directory.iterdir()) == []


@pytest.mark.usefixtures("working_directory")
def test_doctor_looks_at_the_home_that_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    assert run(["doctor", "--quick", "--home", "file", "--json"]) == 1
    codes = {f["check"]: f["code"] for f in json.loads(capsys.readouterr().out)}
    assert codes["disk"] == codes["locks"] == codes["write access"] == "HOME_NOT_A_DIRECTORY"


@pytest.mark.spark
def test_doctor_starts_spark_and_says_so_on_one_line(working_directory: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "penstock", "doctor", "--master", "local[1]"],
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert "runs a job on local[1]" in done.stdout.splitlines()[-1]
    assert done.stderr == ""
    assert list(working_directory.iterdir()) == []


def test_doctor_says_at_once_that_a_cluster_does_not_answer(
    working_directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as taken:
        # Bound, and never listening.
        taken.bind(("127.0.0.1", 0))
        master = f"spark://127.0.0.1:{taken.getsockname()[1]}"
        begun = time.monotonic()
        assert run(["--master", master, "doctor", "--json"]) == 1
        assert time.monotonic() - begun < 20
    found = {f["check"]: f for f in json.loads(capsys.readouterr().out)}
    assert found["cluster"]["code"] == "CLUSTER_UNREACHABLE"
    assert found["spark"]["fact"] == "needs what failed: cluster"
