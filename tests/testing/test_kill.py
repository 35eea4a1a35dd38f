from __future__ import annotations

import sys
import time
from datetime import timedelta
from pathlib import Path

import pytest

from penstock.errors import RunError, UsageError
from penstock.testing.faults import Killed, KillLoop

pytestmark = pytest.mark.kill

CHILDREN = "tests.testing.children"
SOON = (timedelta(milliseconds=2), timedelta(milliseconds=20))
LATER = (timedelta(milliseconds=20), timedelta(milliseconds=80))


def test_a_function_is_killed_again_and_again(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    # On a busy machine a child may be killed before it has done anything.
    path.touch()
    with KillLoop(
        f"{CHILDREN}:count_for_ever", arguments=[str(path)], seed=1, kills=10, moments=LATER
    ) as loop:
        for killed in loop:
            assert not killed.ended_by_itself
            size = path.stat().st_size
            time.sleep(0.002)
            assert path.stat().st_size == size, "the child is still alive"
    cycles = [int(line) for line in path.read_text().splitlines()]
    assert cycles == sorted(cycles)
    assert len(set(cycles)) > 5


def test_the_moments_depend_on_the_seed_only(tmp_path: Path) -> None:
    def run(seed: int) -> list[Killed]:
        arguments = [str(tmp_path / "lines")]
        with KillLoop(
            f"{CHILDREN}:count_for_ever", arguments=arguments, seed=seed, kills=4, moments=SOON
        ) as loop:
            return list(loop)

    first = run(3)
    assert run(3) == first
    assert run(4) != first
    assert all(SOON[0] <= killed.after <= SOON[1] for killed in first)


def test_a_child_that_ends_by_itself_is_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    patient = (timedelta(seconds=30), timedelta(seconds=30))
    with KillLoop(
        f"{CHILDREN}:end_at_once", arguments=[str(path)], seed=1, kills=3, moments=patient
    ) as loop:
        assert [killed.ended_by_itself for killed in loop] == [True, True, True]
    assert path.read_text() == "1\n2\n3\n"


def test_a_child_that_fails_stops_the_loop(capfd: pytest.CaptureFixture[str]) -> None:
    patient = (timedelta(seconds=30), timedelta(seconds=30))
    with (
        KillLoop(
            f"{CHILDREN}:fail", arguments=["reason"], seed=5, kills=3, moments=patient
        ) as loop,
        pytest.raises(RunError, match=r"CHILD_FAILED.*status 1 in cycle 1 of seed 5"),
    ):
        list(loop)
    assert "ValueError: reason" in capfd.readouterr().err


def test_a_function_that_does_not_exist_stops_the_loop(capfd: pytest.CaptureFixture[str]) -> None:
    with (
        KillLoop(f"{CHILDREN}:absent", seed=1, kills=1) as loop,
        pytest.raises(RunError, match="CHILD_FAILED"),
    ):
        list(loop)
    assert "absent" in capfd.readouterr().err


def test_a_name_without_a_function_is_refused() -> None:
    with pytest.raises(UsageError, match="CHILD_SPEC"):
        KillLoop("tests.testing.children", seed=1, kills=1)


def test_a_command_line_is_killed_too(tmp_path: Path) -> None:
    script = f"open({str(tmp_path / 'started')!r}, 'a').write('x'); import time; time.sleep(60)"
    later = (timedelta(milliseconds=300), timedelta(milliseconds=400))
    with KillLoop([sys.executable, "-c", script], seed=1, kills=2, moments=later) as loop:
        assert [killed.ended_by_itself for killed in loop] == [False, False]


def test_a_command_line_is_killed_after_it_is_ready_with_what_it_started(tmp_path: Path) -> None:
    ready, alive = tmp_path / "ready", tmp_path / "alive"
    grandchild = f"while sleep 0.01; do echo >> {alive}; done"
    script = ["sh", "-c", f"({grandchild}) & sleep 0.3; touch {ready}; wait"]
    soon = (timedelta(milliseconds=50), timedelta(milliseconds=60))
    with KillLoop(script, seed=1, kills=2, moments=soon, ready=ready) as loop:
        for killed in loop:
            assert not killed.ended_by_itself
            assert ready.exists()
            size = alive.stat().st_size
            time.sleep(0.1)
            assert alive.stat().st_size == size


def test_a_command_line_that_fails_stops_the_loop() -> None:
    patient = (timedelta(seconds=30), timedelta(seconds=30))
    with (
        KillLoop([sys.executable, "-c", "exit(3)"], seed=1, kills=2, moments=patient) as loop,
        pytest.raises(RunError, match="status 3"),
    ):
        list(loop)
