"""Groups whose members are processes, some of which are killed or stopped."""

from __future__ import annotations

import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from penstock.log.consumer import Consumer
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.open import open_log
from penstock.log.record import TopicPartition
from penstock.log.rows import rows_of_bytes
from penstock.testing.kill import KillLoop

pytestmark = pytest.mark.kill

PARTITIONS = 4
LONG = timedelta(seconds=30)


class Child:
    """A member process and what it has told so far."""

    def __init__(self, home: Path, *, session: float) -> None:
        command = [sys.executable, "-m", "tests.log.embedded.group_child", str(home), "g"]
        self.process = subprocess.Popen([*command, str(session)], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.output = self.process.stdout
        self.records: list[tuple[int, int]] = []
        self.assigned: set[int] = set()
        self.told: list[str] = []
        self._lines: queue.Queue[str] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def listen(self) -> None:
        """Take in what was told since the last time."""
        while not self._lines.empty():
            event, *numbers = self._lines.get().split()
            self.told.append(event)
            if event == "record":
                self.records.append((int(numbers[0]), int(numbers[1])))
            elif event == "assigned":
                self.assigned |= set(map(int, numbers))
            elif event in {"revoked", "lost"}:
                self.assigned -= set(map(int, numbers))

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        self.process.send_signal(signal.SIGCONT)
        self.process.send_signal(how)
        self.process.wait(30)
        self._reader.join(30)
        self.listen()
        self.output.close()

    def _read(self) -> None:
        for line in self.output:
            self._lines.put(line)


class Family:
    """A log in a directory, and the children that read it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.log: EmbeddedLog = open_log(home)
        self.log.create_topic("orders", partitions=PARTITIONS)
        self.written = 0
        self.children: list[Child] = []

    def child(self, *, session: float = 60) -> Child:
        self.children.append(Child(self.home, session=session))
        return self.children[-1]

    def produce(self, count: int) -> None:
        for partition in range(PARTITIONS):
            self.log.append("orders", partition, rows_of_bytes([b"x"] * count))
        self.written += count

    def every(self) -> list[tuple[int, int]]:
        return [(p, o) for p in range(PARTITIONS) for o in range(self.written)]

    def wait_until_balanced(self, *children: Child) -> None:
        self.wait_until(
            lambda: (
                sorted(len(c.assigned) for c in children)
                == sorted(PARTITIONS // len(children) for _ in children)
            )
        )

    def wait_until_read(self) -> None:
        everything = set(self.every())
        self.wait_until(lambda: everything == {r for c in self.children for r in c.records})

    def wait_until(self, condition: Callable[[], bool], seconds: float = 30) -> float:
        begun = time.monotonic()
        while not condition():
            assert time.monotonic() - begun < seconds, [c.told[-5:] for c in self.children]
            assert all((c.process.poll() or 0) <= 0 for c in self.children), "a child failed"
            time.sleep(0.005)
            for child in self.children:
                child.listen()
        return time.monotonic() - begun


@pytest.fixture
def family(tmp_path: Path) -> Iterator[Family]:
    family = Family(tmp_path)
    yield family
    for child in family.children:
        child.stop(signal.SIGKILL)
    family.log.close()


def test_two_processes_share_every_record_without_overlap(family: Family) -> None:
    first = family.child()
    family.produce(50)
    family.wait_until(lambda: len(first.records) >= 20)
    second = family.child()
    family.produce(50)
    family.wait_until_balanced(first, second)
    family.produce(50)
    family.wait_until_read()
    for child in (first, second):
        child.stop()
    assert set(first.records) & set(second.records) == set()
    assert sorted(first.records + second.records) == family.every()
    assert first.process.returncode == second.process.returncode == 0
    assert family.log.group("g").members == ()


def test_partitions_of_a_killed_process_pass_on_at_once_from_the_committed_offset(
    family: Family,
) -> None:
    survivor, victim = family.child(session=60), family.child(session=60)
    family.wait_until_balanced(survivor, victim)
    family.produce(100)
    family.wait_until_read()
    held = set(victim.assigned)
    victim.stop(signal.SIGKILL)
    # The session timeout is a minute: only the freed lock can tell so soon.
    took = family.wait_until(lambda: survivor.assigned == set(range(PARTITIONS)), seconds=20)
    assert took < 10
    family.produce(20)
    family.wait_until_read()
    survivor.stop()
    again = set(survivor.records) & set(victim.records)
    assert all(partition in held for partition, _ in again)
    assert len(again) <= 10, "more came again than the one poll that was not committed"
    assert set(survivor.records) | set(victim.records) == set(family.every())


def test_a_stopped_process_is_expelled_and_joins_again_when_it_wakes(family: Family) -> None:
    well, zombie = family.child(session=1), family.child(session=1)
    family.wait_until_balanced(well, zombie)
    family.produce(10)
    family.wait_until_read()
    # One stopped while it writes holds the group's lock: GROUP_BUSY is about that.
    family.wait_until(lambda: zombie.told[-1] == "committed")
    zombie.process.send_signal(signal.SIGSTOP)
    family.wait_until(lambda: well.assigned == set(range(PARTITIONS)))
    family.produce(10)
    family.wait_until_read()
    zombie.process.send_signal(signal.SIGCONT)
    family.wait_until(lambda: "lost" in zombie.told)
    family.wait_until_balanced(well, zombie)
    family.produce(10)
    family.wait_until_read()
    for child in (well, zombie):
        child.stop()
    assert set(well.records + zombie.records) == set(family.every())


def test_no_record_is_lost_when_a_member_is_killed_at_any_of_its_calls(
    family: Family, tmp_path: Path
) -> None:
    out = tmp_path / "processed"
    family.produce(60)
    with KillLoop(
        "tests.log.embedded.group_child:process_until_killed",
        arguments=[str(family.home), str(out)],
        seed=7,
        kills=40,
        moments=(LONG, LONG),
    ) as loop:
        for killed in loop:
            assert not killed.ended_by_itself
            family.produce(2)
    assert len(out.read_text().split("\n")) > 40
    with Consumer(family.log, "orders", group="g") as consumer:
        for record in consumer.records(idle_timeout=timedelta(seconds=1)):
            with out.open("a") as file:
                file.write(f"{record.partition} {record.offset}\n")
        assert len(consumer.assignment) == PARTITIONS
    lines = out.read_text().split("\n")
    processed = [tuple(map(int, line.split())) for line in lines if len(line.split()) == 2]
    assert set(processed) == set(family.every())
    assert family.log.committed("g") == {
        TopicPartition("orders", number): family.written for number in range(PARTITIONS)
    }
