"""A storage that fails as planned, wrapped around one that works."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeVar

from penstock.log.storage import Bytes, File, Lock, Storage, Watch
from penstock.testing.plan import Delay, Fault, FaultPlan, Kill, Refuse, Tear

T = TypeVar("T")


class Call(NamedTuple):
    """One changing call as the trace shows it."""

    number: int
    operation: str
    path: str
    size: int
    fault: Fault | None


class FaultyStorage:
    """Passes every call on, unless the plan has a fault for it.

    Calls that change something are counted over all files: opening with `create`,
    `write_at`, `sync`, `truncate`, `replace`, `rename`, `remove`, `remove_tree`,
    `make_directory` and `sync_directory`. Reads, locks and watches never fail.
    """

    __slots__ = ("_injector", "_inner")

    def __init__(self, inner: Storage, plan: FaultPlan) -> None:
        self._inner = inner
        self._injector = _Injector(plan)

    @property
    def trace(self) -> tuple[Call, ...]:
        """Every changing call so far, in order, with the fault that struck it."""
        return tuple(self._injector.trace)

    def heal(self) -> None:
        """End a lasting fault; those planned for later calls still come."""
        self._injector.heal()

    def open(self, path: str, *, create: bool = False, write: bool = False) -> File:
        """Open a file; FileNotFoundError where it is absent and `create` is not given."""
        if not create:
            return _FaultyFile(self._inner.open(path, write=write), path, self._injector)
        file = self._injector.run("create", path, lambda: self._inner.open(path, create=True))
        return _FaultyFile(file, path, self._injector)

    def read(self, path: str) -> bytes:
        """Give the whole content of a small file."""
        return self._inner.read(path)

    def replace(self, path: str, content: bytes, *, sync: bool = False) -> None:
        """Write a small file so that any reader sees the old content or the new, never a mix."""
        self._injector.run(
            "replace", path, lambda: self._inner.replace(path, content, sync=sync), len(content)
        )

    def list(self, path: str) -> list[str]:
        """The names directly below a directory, sorted; none where it is absent."""
        return self._inner.list(path)

    def exists(self, path: str) -> bool:
        """Whether a file or directory is there."""
        return self._inner.exists(path)

    def make_directory(self, path: str) -> None:
        """Make a directory and those above it; an existing one is left as it is."""
        self._injector.run("make_directory", path, lambda: self._inner.make_directory(path))

    def rename(self, old: str, new: str) -> None:
        """Move a file (replacing) or a directory (FileExistsError where `new` is there)."""
        self._injector.run("rename", old, lambda: self._inner.rename(old, new))

    def remove(self, path: str) -> None:
        """Remove a file; an absent one is no error."""
        self._injector.run("remove", path, lambda: self._inner.remove(path))

    def remove_tree(self, path: str) -> None:
        """Remove a directory and all below it; an absent one is no error."""
        self._injector.run("remove_tree", path, lambda: self._inner.remove_tree(path))

    def sync_directory(self, path: str) -> None:
        """Return when the names in a directory would survive a power cut."""
        self._injector.run("sync_directory", path, lambda: self._inner.sync_directory(path))

    def lock(self, path: str) -> Lock:
        """Make a lock on a name; it is not held yet."""
        return self._inner.lock(path)

    def watch(self, paths: Iterable[str]) -> Watch:
        """Watch existing files for changes."""
        return self._inner.watch(paths)


class _FaultyFile:
    __slots__ = ("_injector", "_inner", "_path")

    def __init__(self, inner: File, path: str, injector: _Injector) -> None:
        self._inner = inner
        self._path = path
        self._injector = injector

    def read_at(self, position: int, length: int) -> bytes:
        return self._inner.read_at(position, length)

    def write_at(self, position: int, parts: Sequence[Bytes]) -> None:
        def write(kept: int) -> None:
            self._inner.write_at(position, [b"".join(parts)[:kept]])

        size = sum(memoryview(part).nbytes for part in parts)
        self._injector.run(
            "write", self._path, lambda: self._inner.write_at(position, parts), size, write
        )

    def size(self) -> int:
        return self._inner.size()

    def truncate(self, size: int) -> None:
        self._injector.run("truncate", self._path, lambda: self._inner.truncate(size), size)

    def sync(self) -> None:
        self._injector.run("sync", self._path, self._inner.sync)

    def close(self) -> None:
        self._inner.close()


def _no_part(_: int) -> None:
    return


class _Injector:
    """Counts the calls and lets the planned faults strike."""

    __slots__ = ("_lasting", "_plan", "_threads", "trace")

    def __init__(self, plan: FaultPlan) -> None:
        self._plan = plan
        self._threads = threading.Lock()
        self._lasting: Refuse | None = None
        self.trace: list[Call] = []

    def heal(self) -> None:
        with self._threads:
            self._lasting = None

    def run(
        self,
        operation: str,
        path: str,
        act: Callable[[], T],
        size: int = 0,
        part: Callable[[int], None] = _no_part,
    ) -> T:
        call = self._count(operation, path, size)
        match call.fault:
            case Refuse(code):
                raise _refusal(code, call)
            case Tear(kept, code):
                part(kept)
                raise _refusal(code, call)
            case Delay(duration):
                time.sleep(duration.total_seconds())
            case Kill(moment):
                if moment == "within":
                    part(size // 2)
                elif moment == "after":
                    act()
                os.kill(os.getpid(), signal.SIGKILL)
            case None:
                pass
        return act()

    def _count(self, operation: str, path: str, size: int) -> Call:
        with self._threads:
            number = len(self.trace) + 1
            fault = self._plan.faults.get(number, self._lasting)
            if isinstance(fault, Refuse) and fault.lasting:
                self._lasting = fault
            call = Call(number, operation, path, size, fault)
            self.trace.append(call)
        return call


def _refusal(code: int, call: Call) -> OSError:
    reason = f"{os.strerror(code)} (planned for call {call.number}, {call.operation})"
    return OSError(code, reason, call.path)
