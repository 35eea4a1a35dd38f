"""A lead waits a little for a standby that is far behind, and for nobody else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.spark.standby.pace import StandbyPace
from penstock.spark.standby_files import STANDBY, Sides


class Hours:
    """A clock that goes on only while somebody sleeps; meanwhile the standby may do batches."""

    def __init__(self) -> None:
        self.time = 0.0
        self.batches: list[Path] = []

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.time += seconds
        if self.batches:
            self.batches.pop(0).touch()


@pytest.fixture
def sides(tmp_path: Path) -> Sides:
    return Sides(tmp_path)


@pytest.fixture
def standby(sides: Sides) -> Iterator[None]:
    """Somebody works on the standby's side."""
    lock = sides.side_lock(STANDBY)
    assert lock.acquire(0)
    yield
    lock.close()


def done(sides: Sides, number: int) -> Path:
    folder = sides.files(STANDBY).spark / "commits"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / str(number)


def waited(sides: Sides, hours: Hours, number: int) -> float:
    pace = StandbyPace(sides, STANDBY, hours.now, hours.sleep)
    pace.wait(number)
    return hours.time


@pytest.mark.usefixtures("standby")
def test_a_lead_waits_for_a_standby_that_comes_nearer(sides: Sides) -> None:
    hours = Hours()
    done(sides, 5).touch()
    hours.batches = [done(sides, number) for number in (6, 7, 8)]
    assert waited(sides, hours, 10) == pytest.approx(0.04)


@pytest.mark.usefixtures("standby")
def test_it_waits_for_half_a_second_at_most(sides: Sides) -> None:
    done(sides, 5).touch()
    assert waited(sides, Hours(), 10) == pytest.approx(0.5, abs=0.021)


@pytest.mark.usefixtures("standby")
def test_it_does_not_wait_for_one_that_is_near(sides: Sides) -> None:
    done(sides, 7).touch()
    assert waited(sides, Hours(), 10) == 0


@pytest.mark.usefixtures("standby")
def test_a_standby_that_stands_still_is_waited_for_no_more(sides: Sides) -> None:
    hours = Hours()
    done(sides, 5).touch()
    pace = StandbyPace(sides, STANDBY, hours.now, hours.sleep)
    for number in range(10, 200):
        pace.wait(number)
    assert 29 < hours.time < 31


def test_where_nobody_follows_there_is_nothing_to_wait_for(sides: Sides) -> None:
    done(sides, 5).touch()
    assert waited(sides, Hours(), 100) == 0
