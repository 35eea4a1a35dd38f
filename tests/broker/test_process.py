from __future__ import annotations

import os
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest

from penstock.broker import process

pytestmark = pytest.mark.kill


def test_a_process_is_started_apart_and_its_words_are_kept(tmp_path: Path) -> None:
    started = process.start(("/bin/sh", "-c", "echo out; echo err >&2; sleep 60"), tmp_path / "o")
    try:
        assert process.alive(started)
        assert os.getsid(started.pid) == started.pid
        until = time.monotonic() + 10
        while "err" not in (tmp_path / "o").read_text():
            assert time.monotonic() < until
    finally:
        process.end([started], seconds=5)
    assert not process.alive(started)
    assert (tmp_path / "o").read_text() == "out\nerr\n"


def test_another_process_of_the_same_number_is_left_alone(tmp_path: Path) -> None:
    started = process.start(("/bin/sleep", "60"), tmp_path / "o")
    try:
        later = replace(started, created=started.created - 60)
        assert not process.alive(later)
        process.end([later], seconds=5)
        assert process.alive(started)
    finally:
        process.end([started], seconds=5)


def test_who_does_not_listen_is_killed(tmp_path: Path) -> None:
    deaf = process.start(
        ("/bin/sh", "-c", "trap '' TERM; while :; do sleep 1; done"), tmp_path / "o"
    )
    stopped = process.start(("/bin/sleep", "60"), tmp_path / "p")
    time.sleep(0.2)
    process.send(stopped, signal.SIGSTOP)
    process.end([deaf, stopped], seconds=1)
    assert not process.alive(deaf)
    assert not process.alive(stopped)
