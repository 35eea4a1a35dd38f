from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from penstock.log.open import open_log
from penstock.log.topic import TopicConfig
from penstock.testing.faults import KillLoop
from tests.faults.cleaner import KEYS, TABLE, check_table, running
from tests.faults.writer import Acknowledged

pytestmark = pytest.mark.kill

CONFIG = TopicConfig(cleanup="compact", fsync="os", segment_bytes=8 * 1024, min_dirty_ratio=0.01)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with open_log(tmp_path) as log:
        log.create_topic(TABLE, config=CONFIG)
    return tmp_path


def test_two_processes_compact_while_one_writes_and_one_reads(home: Path) -> None:
    acknowledged = Acknowledged(home / "table.ack")
    with (
        open_log(home) as log,
        running("upsert", home),
        running("clean", home),
        running("clean", home),
    ):
        while acknowledged.last < 1500:
            check_table(log, acknowledged.last)
    with open_log(home) as log:
        before = check_table(log, acknowledged.last)
        log.clean(TABLE, include_active=True)
        assert check_table(log, acknowledged.last) == KEYS <= before < 1500


@pytest.mark.parametrize("kills", [20, pytest.param(5000, marks=pytest.mark.soak)])
def test_a_cleaner_killed_at_random_moments_takes_nothing_with_it(home: Path, kills: int) -> None:
    moments = (timedelta(0), timedelta(milliseconds=60))
    loop = KillLoop(
        "tests.faults.cleaner:clean_for_ever",
        arguments=[str(home)],
        seed=11,
        kills=kills,
        moments=moments,
    )
    acknowledged = Acknowledged(home / "table.ack")
    with open_log(home) as log, running("upsert", home), running("clean", home), loop:
        for _ in loop:
            check_table(log, acknowledged.last)


@pytest.mark.timeout(300)
def test_a_cleaner_killed_at_every_call_takes_nothing_with_it(home: Path) -> None:
    moments = (timedelta(minutes=1), timedelta(minutes=1))
    loop = KillLoop(
        "tests.faults.cleaner:die_while_cleaning",
        arguments=[str(home)],
        seed=1,
        kills=3 * 100,
        moments=moments,
    )
    acknowledged = Acknowledged(home / "table.ack")
    with open_log(home) as log, loop:
        for killed in loop:
            check_table(log, acknowledged.last)
            if killed.ended_by_itself:
                break
    assert killed.ended_by_itself, "cleaning has more calls than were tried"
    assert killed.cycle > 3 * 10
