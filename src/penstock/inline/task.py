"""One partition of a part of an application, worked on by one process at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Thread

from typing_extensions import override

from penstock.inline.run import InlineOptions, InlineRun
from penstock.log.embedded.lock import FlockLock
from penstock.log.record import TopicPartition
from penstock.model.physical import Physical

Stored = Callable[[Mapping[TopicPartition, int]], None]


@dataclass(frozen=True, slots=True, order=True)
class TaskName:
    """Which part of an application, and which partition of what it reads."""

    part: int
    partition: int

    @override
    def __str__(self) -> str:
        return f"{self.part}_{self.partition}"


class Task:
    """Runs in threads of its own once its folder is free; what it remembers lies there.

    The folder has a lock, which the system frees when its holder dies: so nobody else works on
    the partition as long as this one might still do so, even if it was thought to be dead.
    """

    def __init__(
        self, name: TaskName, physical: Physical, home: Path, folder: Path, options: InlineOptions
    ) -> None:
        self.name = name
        self.failure: BaseException | None = None
        self._physical = physical
        self._home = home
        self._folder = folder
        self._options = replace(options, partitions=frozenset((name.partition,)))
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = FlockLock(str(folder / "owner.lock"))
        self._run: InlineRun | None = None
        self._thread: Thread | None = None

    def start(self, on_stored: Stored) -> bool:
        """Begin where the last holder stopped; not where another one still holds the folder."""
        if not self._lock.acquire(timeout=0):
            return False
        try:
            self._run = InlineRun(
                self._physical, home=self._home, checkpoint=self._folder, options=self._options
            )
        except BaseException:
            self._lock.close()
            raise
        self._run.on_stored = on_stored
        self._thread = Thread(target=self._work, name=f"task-{self.name}", daemon=True)
        self._thread.start()
        return True

    def stop(self) -> None:
        """Ask it to end; what it has read is worked on and stored first."""
        if self._run is not None:
            self._run.stop()

    def end(self) -> None:
        """Wait until it has ended, and let others have its folder."""
        if self._thread is not None:
            self._thread.join()
        self._lock.close()

    def _work(self) -> None:
        assert self._run is not None
        try:
            self._run.run()
        except BaseException as error:  # noqa: BLE001  # told to who looks after the tasks
            self.failure = error
