"""What buckets remember, as files, and a short note which says what of them counts.

A state of some size is written where it is made, as files that are read where they lie, and goes
nowhere else. Its note is of one batch (`spark.notes`): one that is run again finds the note of the
batch before, whose files are still there.

A version is a base and the changes since: a small batch writes what it changed (`state_patch`),
or, where keys can be told apart, all that its keys have (`state_runs`), which needs the rows of
no others. Files that no batch can ask for any more are removed by a later one. Attempts at a
batch that give the same have the same names: the note of either leads to both.
"""

from __future__ import annotations

import json
import mmap
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from operator import itemgetter
from os import SEEK_END
from pathlib import Path
from typing import Any, TypeAlias
from uuid import uuid4

from penstock.errors import StateError
from penstock.kernel.codec import Written, encode, read
from penstock.kernel.divided import KEYS, Divided, latest
from penstock.kernel.port import START_OF_TIME, Frame, State
from penstock.spark.state_codec import StateCodec
from penstock.spark.state_patch import patched, state_patch
from penstock.spark.state_runs import KnownRuns, Runs, run_cache

INLINE_BYTES = 16 * 1024
"""Shorter states are in their notes: a file costs more."""

_INLINE, _FILED = b"I", b"F"
_VERSION_BYTES = 8
_FRONT = 1 + _VERSION_BYTES
_MOST_PATCHES = 20
_MOST_PARTS = 24
# A table in more pieces than this is copied together when it is read.
_MOST_PIECES = 16
_CACHE_BYTES = 512 * 1024 * 1024
# A batch with more rows than this share of the keys goes through all of them.
_FEW = 8
# Parts with more keys than this share of the head become one with it.
_GROWN = 4
_PART = ".part"
_TOLD = itemgetter("rows", "keys", "until")

File: TypeAlias = tuple[str, int]
"""The name of a file, and its size."""


@dataclass(frozen=True)
class Stored:
    """A state as a note leads to it; `files` are the base first. It is read when asked for."""

    version: int
    files: tuple[File, ...]
    rows: int | None
    """How many rows its tables have; not known of one that is short, or of another form."""
    keys: int
    """How many keys they are of, where they are kept by key."""
    until: int
    """The watermark up to which keys without rows stay as they are."""
    found: Callable[[], tuple[State, bool]]

    @cached_property
    def _found(self) -> tuple[State, bool]:
        return self.found()

    @property
    def state(self) -> State:
        """The state, in the form of today."""
        return self._found[0]

    @property
    def migrated(self) -> bool:
        """Whether it was stored in another form: then it is to be stored anew, as a whole."""
        return self._found[1]

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(size for _, size in self.files)


@dataclass(frozen=True, slots=True)
class Portion:
    """What some keys of a stored state have, and where the others are."""

    state: State
    runs: Runs


class StateFiles:
    """The files of one bucket of one operator."""

    def __init__(self, folder: Path, codec: StateCodec) -> None:
        self._folder = folder
        self._codec = codec

    def load(self, note: bytes) -> Stored:
        """Give the state that a note of `save` leads to."""
        stored = self.open(note)
        _ = stored.state
        return stored

    def open(self, note: bytes) -> Stored:
        """Give the state that a note leads to, not read yet."""
        version = int.from_bytes(note[1:_FRONT], "little")
        if note[:1] != _FILED:
            # Whatever it is: what is not a state is refused there.
            return Stored(version, (), None, 0, 0, lambda: self._codec.current(read(note[_FRONT:])))
        told = _told(note)
        known = not isinstance(told, list) and told["form"] == self._codec.mark
        rows, keys, until = _TOLD(told) if known else (None, 0, 0)
        files = _listed(told)

        def found() -> tuple[State, bool]:
            return self._codec.current(_whole(self._folder, files, _cache().get(str(self._folder))))

        return Stored(version, files, rows, keys, until, found)

    def portion(self, stored: Stored, deltas: Sequence[Frame]) -> Portion | None:
        """Give what the keys of a few rows have; nothing where all are to be looked at."""
        if sum(delta.height for delta in deltas) * _FEW > stored.keys:
            return None
        runs = self._runs(stored.files)
        tables = runs.part_of(deltas)
        return None if tables is None else Portion(State(tables), runs)

    def _runs(self, files: Sequence[File]) -> Runs:
        """Give the head and the parts of a state."""
        head, parts = _divided(files)
        known, folder = run_cache().get(str(self._folder)), str(self._folder)
        names = tuple(name for name, _ in parts)
        if known is not None and known.head == head[-1][0]:
            runs = known.runs
            if names[: len(runs.names)] != runs.names:
                runs = Runs(runs.head)
        else:
            one = len(head) == 1
            written = _read(self._folder, head[0]) if one else _whole(self._folder, head)
            runs = Runs(Divided(written.state.tables))
        for file in parts[len(runs.names) :]:
            runs = runs.with_part(file[0], Divided(_read(self._folder, file).state.tables))
        run_cache().put(folder, KnownRuns(head[-1][0], runs))
        # It is read from its files from now on, which all processes share.
        _cache().drop(folder)
        return runs

    def save(
        self, before: Stored | None, after: State, until: int | None = None
    ) -> tuple[bytes, int]:
        """Store a state; give the note to keep, and the bytes it takes.

        Keys without rows stay as they are up to a watermark, if that is said.
        """
        version = 1 if before is None else before.version + 1
        files: tuple[File, ...] = ()
        if before is not None and not before.migrated and 0 < len(before.files) < _MOST_PATCHES:
            files = self._patch(before, after, version)
        if not files:
            blob = self._codec.encode(after) if _size(after) < INLINE_BYTES else None
            if blob is not None and len(blob) < INLINE_BYTES:
                self._forget(before)
                return _note(_INLINE, version, blob), len(blob)
            files = (self._write(version, after),)
        held = self._codec.written(replace(after, left={}) if after.left else after)
        _cache().put(str(self._folder), Known(files, held))
        keys = after.tables[KEYS].height if KEYS in after.tables and until is not None else 0
        told = {
            "rows": after.rows,
            "keys": keys,
            "until": START_OF_TIME if until is None else until,
        }
        return self._noted(before, files, told)

    def save_portion(
        self, before: Stored, portion: Portion, after: State, until: int
    ) -> tuple[bytes, int, int]:
        """Store what some keys have now; give the note, its bytes, and the rows of the whole."""
        assert before.rows is not None
        known = portion.state.tables.get(KEYS)
        added = after.tables[KEYS].height - (0 if known is None else known.height)
        assert added >= 0, "no key is forgotten"
        version, rows = before.version + 1, before.rows - portion.state.rows + after.rows
        head, parts = _divided(before.files)
        new = Divided(after.tables)
        # A name that no file has: it is known once the file is written.
        runs = portion.runs.with_part("", new)
        if len(runs.hashes) > len(runs.head) // _GROWN:
            files: tuple[File, ...] = (self._write(version, replace(after, tables=runs.whole())),)
        elif len(parts) >= _MOST_PARTS:
            merged = replace(after, tables=runs.merged())
            files = (*head, self._write(version, merged, _PART))
        else:
            file = self._write(version, replace(after, tables=new.tables), _PART)
            files = (*before.files, file)
            named = replace(runs, names=(*portion.runs.names, file[0]))
            run_cache().put(str(self._folder), KnownRuns(head[-1][0], named))
        told = {"rows": rows, "keys": before.keys + added, "until": min(before.until, until)}
        note, size = self._noted(before, files, told)
        return note, size, rows

    def _noted(
        self, before: Stored | None, files: tuple[File, ...], numbers: Mapping[str, int]
    ) -> tuple[bytes, int]:
        self._forget(before)
        told = {"form": self._codec.mark, **numbers, "files": files}
        version = 1 if before is None else before.version + 1
        size = sum(size for _, size in files)
        return _note(_FILED, version, json.dumps(told).encode()), size

    def _patch(self, before: Stored, after: State, version: int) -> tuple[File, ...]:
        """Write what has changed; nothing where the whole is not much longer."""
        if _divided(before.files)[1]:
            return ()
        if _size(after) < INLINE_BYTES:
            return ()
        tables = state_patch(before.state.tables, after.tables, after.left)
        patch = replace(after, tables=tables)
        # What is written twice, or no longer counts, is at most as much as what does.
        if before.size + _size(patch) > 2 * _size(after):
            return ()
        return (*before.files, self._write(version, patch))

    def _write(self, version: int, state: State, suffix: str = ".state") -> File:
        self._folder.mkdir(parents=True, exist_ok=True)
        fresh = self._folder / f"{version}-{uuid4().hex}.new"
        with fresh.open("x+b", buffering=0) as file:
            one, other = self._codec.encode_into(file, state)
            size = file.seek(0, SEEK_END)
        # Named by what it holds: of two attempts at a batch either note may be kept. Two
        # checksums of 32 bits take a third of the time of a hash, and are for telling these apart.
        name = f"{version}-{one:08x}{other:08x}{suffix}"
        fresh.replace(self._folder / name)
        return name, size

    def _forget(self, before: Stored | None) -> None:
        """Remove the files of versions before the last: only that one can be asked for again.

        All attempts at the last are kept, since the note of any of them may count.
        """
        if before is None or not self._folder.exists():
            return
        kept = {name for name, _ in before.files}
        for path in self._folder.iterdir():
            number = path.name.partition("-")[0]
            if number.isdigit() and int(number) < before.version and path.name not in kept:
                path.unlink(missing_ok=True)


def whole_state(folder: Path, note: bytes) -> bytes:
    """Give all that a note leads to as one blob, in the form it was written in."""
    if note[:1] != _FILED:
        read(note[_FRONT:])  # refuses what is damaged
        return note[_FRONT:]
    found = _whole(folder, _listed(_told(note)))
    return encode(found.state, found.fingerprint, found.form)


def whole_note(blob: bytes) -> bytes:
    """Give the note of a state that is all in it."""
    return _note(_INLINE, 0, blob)


def files_of(note: bytes) -> tuple[str, ...]:
    """Give the names of the files that a note leads to."""
    if note[:1] != _FILED:
        return ()
    return tuple(name for name, _ in _listed(_told(note)))


def _told(note: bytes) -> Any:  # noqa: ANN401  # JSON
    try:
        return json.loads(note[_FRONT:])
    except ValueError as error:
        raise StateError(
            "STATE_UNREADABLE",
            f"the note of a bucket's state is not what was written: {error}",
            hint="Restore the job from a savepoint, or rewind it.",
        ) from error


def _listed(told: Any) -> tuple[File, ...]:  # noqa: ANN401  # JSON
    # Notes of earlier releases are the list of files.
    listed = told if isinstance(told, list) else told["files"]
    return tuple((str(name), int(size)) for name, size in listed)


def _whole(folder: Path, files: Sequence[File], known: Known | None = None) -> Written:
    """Put a state together; what was written last says in which form it is.

    Of what is `known` only the changes since are read.
    """
    head, parts = _divided(files)
    if known is None or head[: len(known.files)] != known.files:
        known = Known(head[:1], _read(folder, head[0]))
    found = known.state
    if known.files == tuple(files):
        return found
    for file in head[len(known.files) :]:
        patch = _read(folder, file)
        tables = patched(found.state.tables, patch.state.tables)
        found = replace(patch, state=replace(patch.state, tables=tables))
    if parts:
        later = [_read(folder, file) for file in parts]
        runs = [Divided(item.state.tables) for item in (found, *later)]
        found = replace(later[-1], state=replace(later[-1].state, tables=latest(runs)))
    whole = {
        name: table.rechunk() if table.n_chunks() > _MOST_PIECES else table
        for name, table in found.state.tables.items()
    }
    return replace(found, state=replace(found.state, tables=whole))


def _read(folder: Path, file: File) -> Written:
    name, size = file
    path = folder / name
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


@dataclass(frozen=True, slots=True)
class Known:
    """A state that this process has put together or written, and the files that it is in."""

    files: tuple[File, ...]
    state: Written

    @property
    def size(self) -> int:
        """The bytes of its files."""
        return sum(size for _, size in self.files)


class _Cache:
    """The states that this process wrote last, by folder, within a number of bytes."""

    def __init__(self) -> None:
        self._states: OrderedDict[str, Known] = OrderedDict()
        self._size = 0

    def get(self, folder: str) -> Known | None:
        return self._states.get(folder)

    def put(self, folder: str, known: Known) -> None:
        self.drop(folder)
        self._states[folder] = known
        self._size += known.size
        while self._size > _CACHE_BYTES:
            self._size -= self._states.popitem(last=False)[1].size

    def drop(self, folder: str) -> None:
        known = self._states.pop(folder, None)
        self._size -= 0 if known is None else known.size


@lru_cache(maxsize=1)
def _cache() -> _Cache:
    return _Cache()


def _size(state: State) -> int:
    return sum(int(table.estimated_size()) for table in state.tables.values())


def _divided(files: Sequence[File]) -> tuple[tuple[File, ...], tuple[File, ...]]:
    """Give the files of the head and those of the parts."""
    head = tuple(file for file in files if not file[0].endswith(_PART))
    return head, tuple(files[len(head) :])


def _note(kind: bytes, version: int, rest: bytes) -> bytes:
    return kind + version.to_bytes(_VERSION_BYTES, "little") + rest
