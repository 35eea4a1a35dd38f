"""Cleaning beside the work: on one thread that lives only while there is something to clean."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TypeAlias

from penstock.log.embedded.compaction import CleaningStopped
from penstock.log.record import TopicPartition

KeepGoing: TypeAlias = Callable[[], bool]
_LOGGER = logging.getLogger(__name__)


class BackgroundCleaner:
    """Takes partitions to clean from appenders, who never wait for it nor hear of its troubles."""

    def __init__(self, clean: Callable[[TopicPartition, KeepGoing], object]) -> None:
        self._clean = clean
        self._guard = threading.Lock()
        self._waiting: dict[TopicPartition, None] = {}
        self._thread: threading.Thread | None = None
        self._stopped = False

    def schedule(self, place: TopicPartition) -> None:
        """Have a partition cleaned soon; one that waits already is not put in twice."""
        with self._guard:
            if self._stopped:
                return
            self._waiting[place] = None
            # A forked child has the parent's thread only as a dead one.
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(
                    target=self._work, name="penstock-cleaner", daemon=True
                )
                self._thread.start()

    def wait(self) -> None:
        """Return when all that was scheduled is cleaned."""
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def stop(self) -> None:
        """Give up what is under way between two frames; the next cleaner begins it anew."""
        with self._guard:
            self._stopped = True
            self._waiting.clear()
        self.wait()

    def _work(self) -> None:
        while (place := self._next()) is not None:
            try:
                self._clean(place, lambda: not self._stopped)
            except CleaningStopped:
                return
            except Exception:  # whatever went wrong, appends go on and the next seal tries again
                _LOGGER.exception("cleaning %s failed", place)

    def _next(self) -> TopicPartition | None:
        with self._guard:
            if not self._waiting:
                self._thread = None
                return None
            place = next(iter(self._waiting))
            del self._waiting[place]
            return place
