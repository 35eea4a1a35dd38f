"""What buckets remember, as files: Spark's store keeps only which of them count.

A state of some size would cross from Python to the JVM and back in every batch, be compressed,
written twice and fill the heap. So it is written where it is made, as files that are read where
they lie, and Spark's store holds a short note. That is versioned with the batch: one that is run
again finds the note of the batch before, whose files are still there.

A version is a base and the changes since: a small batch writes what it changed. Files that no
batch can ask for any more are removed by a later one. Attempts at a batch that give the same have
the same names: which of their notes Spark keeps is nothing to rely on.
"""

from __future__ import annotations

import hashlib
import json
import mmap
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from uuid import uuid4

from penstock.errors import StateError
from penstock.kernel.codec import Written, read
from penstock.kernel.port import State
from penstock.spark.state_codec import StateCodec
from penstock.spark.state_patch import patched, state_patch

INLINE_BYTES = 64 * 1024
"""Shorter states stay in Spark's store: a file costs more."""

_INLINE, _FILED = b"I", b"F"
_VERSION_BYTES = 8
_FRONT = 1 + _VERSION_BYTES
_MOST_PATCHES = 20
_CACHE_BYTES = 512 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Stored:
    """A state as it was read; `files` are their names and sizes, the base first."""

    state: State
    version: int
    files: tuple[tuple[str, int], ...] = ()
    migrated: bool = False
    """Whether it was stored in another form: then it is to be stored anew, as a whole."""

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(size for _, size in self.files)


class StateFiles:
    """The files of one bucket of one operator."""

    def __init__(self, folder: Path, codec: StateCodec) -> None:
        self._folder = folder
        self._codec = codec

    def load(self, note: bytes) -> Stored:
        """Give the state that a note of `save` leads to."""
        version = int.from_bytes(note[1:_FRONT], "little")
        files: tuple[tuple[str, int], ...] = ()
        if note[:1] == _FILED:
            files = tuple((name, size) for name, size in json.loads(note[_FRONT:]))
            found = _cache().get((str(self._folder), files[-1][0])) or self._whole(files)
        else:
            # Whatever it is: what is not a state is refused there.
            found = read(note[_FRONT:])
        state, migrated = self._codec.current(found)
        return Stored(state, version, files, migrated)

    def _whole(self, files: Sequence[tuple[str, int]]) -> Written:
        """Put a state together; what was written last says in which form it is."""
        found = self._read(files[0])
        for file in files[1:]:
            patch = self._read(file)
            tables = patched(found.state.tables, patch.state.tables)
            found = replace(patch, state=replace(patch.state, tables=tables))
        whole = {name: table.rechunk() for name, table in found.state.tables.items()}
        return replace(found, state=replace(found.state, tables=whole))

    def save(self, before: Stored | None, after: State) -> tuple[bytes, int]:
        """Store a state; give the note to keep, and the bytes it takes."""
        version = 1 if before is None else before.version + 1
        files: tuple[tuple[str, int], ...] = ()
        if before is not None and not before.migrated and 0 < len(before.files) < _MOST_PATCHES:
            files = self._patch(before, after, version)
        if not files:
            blob = self._codec.encode(after)
            if len(blob) < INLINE_BYTES:
                self._forget(before)
                return _note(_INLINE, version, blob), len(blob)
            files = (self._write(version, blob),)
        held = self._codec.written(after)
        _cache().put((str(self._folder), files[-1][0]), held, sum(size for _, size in files))
        self._forget(before)
        size = sum(size for _, size in files)
        return _note(_FILED, version, json.dumps(files).encode()), size

    def _patch(self, before: Stored, after: State, version: int) -> tuple[tuple[str, int], ...]:
        """Write what has changed; nothing where the whole is not much longer."""
        if sum(table.estimated_size() for table in after.tables.values()) < INLINE_BYTES:
            return ()
        patch = replace(after, tables=state_patch(before.state.tables, after.tables))
        base = before.files[0][1]
        changes = before.size - base + sum(t.estimated_size() for t in patch.tables.values())
        if changes > base // 2:
            return ()
        return (*before.files, self._write(version, self._codec.encode(patch)))

    def _write(self, version: int, blob: bytes) -> tuple[str, int]:
        # Named by what it holds: of two attempts at a batch Spark may keep either note.
        name = f"{version}-{hashlib.blake2b(blob, digest_size=12).hexdigest()}.state"
        self._folder.mkdir(parents=True, exist_ok=True)
        fresh = self._folder / f"{name}.{uuid4().hex}.new"
        fresh.write_bytes(blob)
        fresh.replace(self._folder / name)
        return name, len(blob)

    def _read(self, file: tuple[str, int]) -> Written:
        name, size = file
        path = self._folder / name
        try:
            with path.open("rb") as opened:
                content = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            raise StateError(
                "STATE_FILE",
                f'"{path}", {size} bytes of a state, cannot be read: {error}',
                hint="Restore the whole checkpoint from a copy, or start again from the log.",
            ) from error
        return read(memoryview(content))

    def _forget(self, before: Stored | None) -> None:
        """Remove the files of versions before the last: only that one can be asked for again.

        All attempts at the last are kept, since Spark may have the note of any of them.
        """
        if before is None or not self._folder.exists():
            return
        kept = {name for name, _ in before.files}
        for path in self._folder.iterdir():
            number = path.name.partition("-")[0]
            if number.isdigit() and int(number) < before.version and path.name not in kept:
                path.unlink(missing_ok=True)


class _Cache:
    """The states that this process wrote last, within a number of bytes."""

    def __init__(self) -> None:
        self._states: OrderedDict[tuple[str, str], tuple[Written, int]] = OrderedDict()
        self._size = 0

    def get(self, key: tuple[str, str]) -> Written | None:
        found = self._states.get(key)
        return None if found is None else found[0]

    def put(self, key: tuple[str, str], state: Written, size: int) -> None:
        for old in [old for old in self._states if old[0] == key[0]]:
            self._size -= self._states.pop(old)[1]
        self._states[key] = (state, size)
        self._size += size
        while self._size > _CACHE_BYTES:
            self._size -= self._states.popitem(last=False)[1][1]


@lru_cache(maxsize=1)
def _cache() -> _Cache:
    return _Cache()


def _note(kind: bytes, version: int, rest: bytes) -> bytes:
    return kind + version.to_bytes(_VERSION_BYTES, "little") + rest
