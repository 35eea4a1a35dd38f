"""One of the processes that run an application together, each a share of the partitions.

An application is run in parts: each reads topics whose partitions belong together, and each
partition is a task. Who has which is agreed in a consumer group named after the application.
A task's memory and position are stored in a folder of its own, from where the process that gets
the partition next goes on.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Literal, TypeAlias

from penstock.errors import GroupError, StateError
from penstock.inline.groundwork import lay_ground, leading_topics
from penstock.inline.local_store import LocalStore
from penstock.inline.run import InlineOptions
from penstock.inline.task import Task, TaskName
from penstock.log.attendance import Attendance
from penstock.log.open import open_log
from penstock.log.port import Log, Membership
from penstock.log.record import TopicPartition
from penstock.model.physical import Physical

Condition: TypeAlias = Literal["created", "running", "rebalancing", "closed", "failed"]

_ROUND = 0.1
_FENCED = "GROUP_FENCED"
_PATIENCE = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Application:
    """What is run: its name, its parts in the order in which they write for one another."""

    name: str
    parts: Sequence[Physical]
    compacted: frozenset[str] = frozenset()
    options: InlineOptions = field(default_factory=InlineOptions)


class Instance:
    """Takes part in running an application from `start` to `close`."""

    def __init__(self, application: Application, *, home: Path, folder: Path) -> None:
        self._application = application
        self._home = home
        self._folder = folder
        self._tasks: dict[TopicPartition, Task] = {}
        self._guard = threading.Lock()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._leading: dict[str, int] = {}
        self._failure: BaseException | None = None
        self.condition: Condition = "created"

    @property
    def tasks(self) -> tuple[TaskName, ...]:
        """What this instance works on now."""
        with self._guard:
            return tuple(sorted(task.name for task in self._tasks.values()))

    def start(self) -> None:
        """Make the topics that are missing, and begin to take part."""
        log = open_log(self._home)
        try:
            lay_ground(log, self._application.parts, self._application.compacted, self._folder)
            self._leading = leading_topics(log, self._application.parts)
            attendance = Attendance(lambda: self._join(log), _PATIENCE)
        except BaseException:
            log.close()
            raise
        self.condition = "rebalancing"
        self._thread = threading.Thread(
            target=self._keep, args=(log, attendance), name=self._application.name, daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Store everything and leave; a failure of a task is raised here."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure

    def _join(self, log: Log) -> Membership:
        return log.join(
            self._application.name, sorted(self._leading), assignor="cooperative-sticky"
        )

    def _keep(self, log: Log, attendance: Attendance) -> None:
        try:
            while not self._stopping.is_set() and self._failure is None:
                attendance.news.wait(_ROUND)
                self._attend(attendance, log)
                self._notice_failures()
        except BaseException as error:  # noqa: BLE001  # told to who closes the instance
            self._failure = self._failure or error
        finally:
            self._end(list(self._tasks))
            attendance.leave()
            log.close()
            self.condition = "closed" if self._failure is None else "failed"

    def _attend(self, attendance: Attendance, log: Log) -> None:
        try:
            change = attendance.attend()
            if change is not None and change.revoked:
                self._end(change.revoked)
                attendance.seat.release(change.revoked)
            owned = attendance.seat.owned
            new = sorted(owned - self._tasks.keys())
            self._require_memory(new, log)
            self._begin(new, attendance)
            self.condition = "running" if owned <= self._tasks.keys() else "rebalancing"
        except GroupError as refusal:
            if refusal.code != _FENCED:
                raise
            # The seat is lost: others may be given these partitions, once the folders are free.
            self._end(list(self._tasks))
            attendance.rejoin()

    def _require_memory(self, places: Sequence[TopicPartition], log: Log) -> None:
        """Refuse what others have begun and remember elsewhere: all of it would count twice."""
        options = self._application.options
        if not places or options.state != "local" or options.guarantee == "exactly-once":
            return  # where results come once, the note of their transaction tells
        group = log.committed(self._application.name)
        for place in places:
            if group.get(place, 0) and LocalStore(self._place_of(place)[1]).current() is None:
                raise StateError(
                    "SNAPSHOT_LOST",
                    f'application "{self._application.name}" is at offset {group[place]} of'
                    f' "{place}", and "{self._folder}" does not have what it remembers',
                    hint="All its instances need the same home and state.dir; to begin anew, delete"
                    f" its group: penstock groups delete {self._application.name}.",
                )

    def _place_of(self, place: TopicPartition) -> tuple[TaskName, Path]:
        """Give the task of a partition, and its folder."""
        name = TaskName(self._leading[place.topic], place.partition)
        return name, self._folder / f"{self._application.name}-{name}"

    def _begin(self, places: Iterable[TopicPartition], attendance: Attendance) -> None:
        for place in places:
            name, folder = self._place_of(place)
            physical, options = self._application.parts[name.part], self._application.options
            task = Task(name, physical, self._home, folder, options)

            def stored(offsets: Mapping[TopicPartition, int], at: TopicPartition = place) -> None:
                self._commit(attendance, {at: offsets[at]})

            if task.start(stored):
                with self._guard:
                    self._tasks[place] = task

    def _commit(self, attendance: Attendance, offsets: Mapping[TopicPartition, int]) -> None:
        # What is stored with the task counts; the group's offsets only show how far it is.
        with contextlib.suppress(GroupError):
            attendance.seat.commit(offsets)

    def _end(self, places: Iterable[TopicPartition]) -> None:
        ending = {place: self._tasks[place] for place in places if place in self._tasks}
        for task in ending.values():
            task.stop()
        for place, task in ending.items():
            task.end()
            self._failure = self._failure or task.failure
            with self._guard:
                del self._tasks[place]

    def _notice_failures(self) -> None:
        failures = (task.failure for task in self._tasks.values())
        self._failure = next((failure for failure in failures if failure), self._failure)
