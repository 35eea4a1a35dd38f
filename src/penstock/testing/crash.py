"""Crash points as test data: a program that dies after any step must not notice.

`actions` are what is done to a driver, one after the other. A crash point says during which
of them the process dies, and after which step of the batch it starts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from penstock.testing.driver import TestDriver

Action: TypeAlias = Callable[[TestDriver], object]


@dataclass(frozen=True, slots=True)
class CrashPoint:
    """After a step of the batch that an action starts; actions count from 0."""

    action: int
    step: str


def crash_points(driver: TestDriver, actions: Sequence[Action]) -> Iterator[CrashPoint]:
    """Give every place at which a run of the actions can die."""
    for number in range(len(actions)):
        for step in driver.steps:
            yield CrashPoint(number, step)


def run_actions(
    build: Callable[[], TestDriver], actions: Sequence[Action], crash: CrashPoint | None = None
) -> TestDriver:
    """Do the actions on a new driver, with a crash and a replay at the point given."""
    driver = build()
    for number, action in enumerate(actions):
        if crash is not None and crash.action == number:
            driver.crash_after(crash.step)
        action(driver)
    return driver


def assert_survives(
    build: Callable[[], TestDriver],
    actions: Sequence[Action],
    crashes: Iterable[CrashPoint] | None = None,
) -> None:
    """Demand the same results, late rows, dead letters and counts, wherever the process dies."""
    calm = run_actions(build, actions)
    wanted = written(calm)
    for crash in crash_points(calm, actions) if crashes is None else crashes:
        found = written(run_actions(build, actions, crash))
        # By their text, since NaN is not equal to itself.
        assert repr(found) == repr(wanted), (
            f"a crash after {crash.step} in action {crash.action} changed the results:\n"
            f"found  {found}\nwanted {wanted}"
        )


def written(driver: TestDriver) -> dict[str, Any]:
    """Give all that a program under test has written, and its accounting."""
    topics = {
        topic: {
            "changes": driver.changes(topic),
            "late": driver.late(topic),
            "dead": driver.dead_letters(topic),
        }
        for topic in driver.topics
    }
    return {"topics": topics, "counts": driver.counts()}
