from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.house.survey import ROOT

MAKEFILE = (ROOT / "Makefile").read_text()
TARGETS = ("setup", "check", "test", "demo", "bench", "bench-smoke", "soak")


def plan(target: str) -> str:
    """What make would run."""
    done = subprocess.run(
        ["make", "--dry-run", "--always-make", target],
        cwd=ROOT,
        capture_output=True,
        check=True,
        # As from a shell of its own, not as a part of the make that runs the tests.
        env={name: value for name, value in os.environ.items() if "MAKE" not in name},
        text=True,
    )
    return done.stdout


def test_every_target_prepares_the_environment_first() -> None:
    for target in TARGETS:
        lines = plan(target).splitlines()
        sync = next(
            n for n, line in enumerate(lines) if "--require-hashes requirements.lock" in line
        )
        uses = [n for n, line in enumerate(lines) if re.search(r"-m (pytest|bench|examples)", line)]
        assert all(n > sync for n in uses), target


@pytest.mark.parametrize(("tests", "bench"), [(0, 0), (0, 3), (2, 0)])
def test_the_build_server_goes_by_make_test_alone(tests: int, bench: int, tmp_path: Path) -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    make = f'echo "$1" >> {tmp_path}/made; [ "$1" = test ] && exit {tests}; exit {bench}'
    for name, body in {"make": make, "initdb": "", "chromium": "", "kcat": ""}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run([script], env=environment, capture_output=True, check=False)
    assert done.returncode == tests
    assert (tmp_path / "made").read_text().split() == ["test", *(["bench-smoke"] * (not tests))]


def test_only_the_soak_is_left_out_of_make_test() -> None:
    assert '-m "not soak"' in plan("test")
    assert "--hypothesis-profile=soak" in plan("soak")


def test_every_target_is_told_by_help() -> None:
    told = plan_of_help()
    for target in (*TARGETS, "format", "lock", "clean"):
        assert re.search(rf"^{target}\s+\S", told, re.MULTILINE), target


def test_every_target_without_a_file_is_phony() -> None:
    phony = set(re.search(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)[1].split())  # type: ignore[index]
    assert phony == set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))


def plan_of_help() -> str:
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, check=True, text=True)
    return done.stdout
