from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest

from penstock.log.embedded.log import EmbeddedLog
from penstock.log.open import open_log
from penstock.testing.faults import KillLoop
from tests.faults.feed import PlainCheck, TransactionCheck, create_topics
from tests.faults.reader import reading
from tests.faults.writer import Acknowledged

pytestmark = pytest.mark.kill

SEED = 20240
MOMENTS = (timedelta(0), timedelta(milliseconds=40))
CYCLES = [
    pytest.param(150, id="150"),
    pytest.param(int(os.environ.get("SOAK_CYCLES", "100000")), id="soak", marks=pytest.mark.soak),
]


class Checks:
    """What must hold after every kill."""

    def __init__(self, home: Path, log: EmbeddedLog) -> None:
        self._log = log
        self._plain, self._moved = PlainCheck(), TransactionCheck()
        self._plain_acknowledged = Acknowledged(home / "plain.ack")
        self._moved_acknowledged = Acknowledged(home / "moved.ack")

    def look(self) -> tuple[int, int]:
        """Compare the log with what was acknowledged; give how many records and transactions."""
        self._plain.follow(self._log)
        self._moved.follow(self._log)
        assert self._plain.following > self._plain_acknowledged.last
        assert self._moved.done >= self._moved_acknowledged.last
        return self._plain.following, self._moved.done


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with open_log(tmp_path) as log:
        create_topics(log)
    return tmp_path


@pytest.mark.timeout(0)
@pytest.mark.parametrize("cycles", CYCLES)
def test_a_writer_killed_at_random_moments_loses_and_repeats_nothing(
    home: Path, cycles: int
) -> None:
    loop = KillLoop(
        "tests.faults.writer:alternate",
        arguments=[str(home)],
        seed=SEED,
        kills=cycles,
        moments=MOMENTS,
    )
    with open_log(home) as log, reading(home), loop:
        checks = Checks(home, log)
        for _ in loop:
            records, transactions = checks.look()
    assert records > cycles
    assert transactions > cycles // 4


@pytest.mark.timeout(300)
def test_a_writer_killed_at_every_call_of_its_work_loses_and_repeats_nothing(home: Path) -> None:
    loop = KillLoop(
        "tests.faults.writer:die_at_a_call",
        arguments=[str(home)],
        seed=SEED,
        kills=3 * 200,
        moments=(timedelta(minutes=1), timedelta(minutes=1)),
    )
    with open_log(home) as log, loop:
        checks = Checks(home, log)
        for killed in loop:
            checks.look()
            if killed.ended_by_itself:
                break
    assert killed.ended_by_itself, "the work has more calls than were tried"
    assert killed.cycle > 3 * 50
