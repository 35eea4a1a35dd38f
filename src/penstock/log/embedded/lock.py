"""A lock on a file name, held through `flock`, so that the kernel frees it when its holder dies."""

from __future__ import annotations

import fcntl
import os
import threading
import time
import weakref

_FIRST_PAUSE = 0.00005
_LONGEST_PAUSE = 0.01

# A forked child shares the open file and with it the parent's flock: it could free the lock,
# and would keep it alive after the parent's death. So the child closes every lock's file at
# once, which needs the set of all locks; the guard keeps a fork out of the moment in which a
# file is open but not yet known to its lock.
_all_locks: weakref.WeakSet[FlockLock] = weakref.WeakSet()
_guard = threading.RLock()


class FlockLock:
    """Exclusive among threads and processes; the file stays when the lock is freed."""

    __slots__ = ("__weakref__", "_descriptor", "_held", "_path", "_threads")

    def __init__(self, path: str) -> None:
        self._path = path
        self._descriptor = -1
        self._held = False
        self._threads = threading.Lock()
        with _guard:
            _all_locks.add(self)

    def acquire(self, timeout: float | None = None) -> bool:
        """Wait for the lock: for ever, or for at most `timeout` seconds (0: try once)."""
        if timeout is None:
            self._threads.acquire()
            deadline = None
        else:
            deadline = time.monotonic() + timeout
            if not self._threads.acquire(timeout=max(timeout, 0)):
                return False
        try:
            self._held = self._take_file(deadline)
        except BaseException:
            # An interrupt may come when the lock is taken but not yet noted.
            self._close_file()
            self._threads.release()
            raise
        if not self._held:
            self._threads.release()
        return self._held

    def release(self) -> None:
        """Free the lock; where it is not held, as in a forked child, nothing happens."""
        if self._held:
            self._held = False
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_UN)
            finally:
                self._threads.release()

    def close(self) -> None:
        """Free the lock if held and let go of its file."""
        self.release()
        with self._threads:
            self._close_file()

    def abandon(self) -> None:
        """Let go of the file without freeing what the parent of this forked child holds."""
        self._held = False
        self._threads = threading.Lock()
        self._close_file()

    def _take_file(self, deadline: float | None) -> bool:
        while True:
            if self._descriptor < 0:
                self._open_file()
            if deadline is None:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX)
            elif not self._poll_file(deadline):
                return False
            # A file that was removed or replaced has no name any more: others lock another one
            # now. (Half the price of comparing inodes by path; where the directory was moved,
            # the lock goes with the files it guards.)
            if os.fstat(self._descriptor).st_nlink:
                return True
            self._close_file()

    def _poll_file(self, deadline: float) -> bool:
        pause = _FIRST_PAUSE
        while True:
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                time.sleep(min(pause, left))
                pause = min(pause * 2, _LONGEST_PAUSE)
            else:
                return True

    def _open_file(self) -> None:
        with _guard:
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)

    def _close_file(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def __del__(self) -> None:
        self._close_file()


def _abandon_all() -> None:
    for lock in _all_locks:
        lock.abandon()
    _guard.release()


os.register_at_fork(
    before=_guard.acquire, after_in_parent=_guard.release, after_in_child=_abandon_all
)
