"""A storage that remembers what a power cut would take away."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

from penstock.log.embedded.memory import MemoryStorage
from penstock.log.storage import Bytes, File, Lock, Watch

_SECTOR = 512


class PowerCutStorage:
    """A storage in memory of which `after_cut` gives what a disk might hold after a power cut.

    What was synced is there. Of writes since then each may be there, be lost or be torn
    between two sectors, in any combination. Names (created, moved, removed) become durable
    in the order in which they were made, at the latest by `sync_directory`; a file's own
    `sync` does not make its name durable. It is stricter than most file systems, so what
    survives here survives there.
    """

    __slots__ = ("_inner", "_journal", "_names", "_tree")

    def __init__(self) -> None:
        self._inner = MemoryStorage()
        self._names: dict[str, _Node] = {}
        self._tree = _Tree()
        self._journal: list[_Change] = []

    def after_cut(self, seed: int) -> MemoryStorage:
        """Give the files as a power cut at this moment may leave them, chosen by the seed."""
        dice = random.Random(seed)
        tree = self._tree.copy()
        for change in self._journal[: dice.randint(0, len(self._journal))]:
            change.apply(tree)
        left = MemoryStorage()
        for directory in sorted(tree.directories):
            left.make_directory(directory)
        for path, node in tree.files.items():
            left.replace(path, node.after_cut(dice))
        return left

    def open(self, path: str, *, create: bool = False, write: bool = False) -> File:
        """Open a file; FileNotFoundError where it is absent and `create` is not given."""
        file = self._inner.open(path, create=create, write=write)
        if path not in self._names:
            self._link(path, _Node(self._inner.open(path)))
        return _PowerCutFile(file, self._names[path])

    def read(self, path: str) -> bytes:
        """Give the whole content of a small file."""
        return self._inner.read(path)

    def replace(self, path: str, content: bytes, *, sync: bool = False) -> None:
        """Write a small file so that any reader sees the old content or the new, never a mix."""
        self._inner.replace(path, content)
        node = _Node(self._inner.open(path))
        node.pending.append(_Write(0, content))
        if sync:
            node.sync()
        self._link(path, node)
        if sync:
            self.sync_directory(path.rpartition("/")[0])

    def list(self, path: str) -> list[str]:
        """The names directly below a directory, sorted; none where it is absent."""
        return self._inner.list(path)

    def exists(self, path: str) -> bool:
        """Whether a file or directory is there."""
        return self._inner.exists(path)

    def make_directory(self, path: str) -> None:
        """Make a directory and those above it; an existing one is left as it is."""
        self._inner.make_directory(path)
        parts = path.split("/")
        for end in range(1, len(parts) + 1):
            above = "/".join(parts[:end])
            self._note(partial(_Tree.make, path=above), above)

    def rename(self, old: str, new: str) -> None:
        """Move a file (replacing) or a directory (FileExistsError where `new` is there)."""
        self._inner.rename(old, new)
        moved = _Tree(self._names)
        moved.move(old, new)
        self._names = moved.files
        self._note(lambda tree: tree.move(old, new), old, new)

    def remove(self, path: str) -> None:
        """Remove a file; an absent one is no error."""
        self._inner.remove(path)
        self._names.pop(path, None)
        self._note(lambda tree: tree.remove(path), path)

    def remove_tree(self, path: str) -> None:
        """Remove a directory and all below it; an absent one is no error."""
        self._inner.remove_tree(path)
        left = _Tree(self._names)
        left.remove(path)
        self._names = left.files
        self._note(lambda tree: tree.remove(path), path)

    def sync_directory(self, path: str) -> None:
        """Return when the names in a directory would survive a power cut."""
        self._inner.sync_directory(path)
        touched = [n for n, change in enumerate(self._journal) if path in change.directories]
        durable = touched[-1] + 1 if touched else 0
        for change in self._journal[:durable]:
            change.apply(self._tree)
        del self._journal[:durable]

    def lock(self, path: str) -> Lock:
        """Make a lock on a name; it is not held yet."""
        return self._inner.lock(path)

    def watch(self, paths: Iterable[str]) -> Watch:
        """Watch existing files for changes."""
        return self._inner.watch(paths)

    def _link(self, path: str, node: _Node) -> None:
        self._names[path] = node

        def link(tree: _Tree) -> None:
            tree.files[path] = node

        self._note(link, path)

    def _note(self, apply: Callable[[_Tree], object], *paths: str) -> None:
        parents = frozenset(path.rpartition("/")[0] for path in paths)
        self._journal.append(_Change(apply, parents))


class _Write(NamedTuple):
    position: int
    data: bytes

    def apply(self, content: bytearray, dice: random.Random) -> None:
        """Do all of the write, none of it, or up to the border of a sector."""
        size = len(self.data)
        border = _SECTOR - self.position % _SECTOR
        kept = dice.choice([0, size, size, border + _SECTOR * dice.randint(0, size // _SECTOR)])
        data = self.data[:kept]
        if data:
            content.extend(bytes(max(self.position - len(content), 0)))
            content[self.position : self.position + len(data)] = data


class _Cut(NamedTuple):
    size: int

    def apply(self, content: bytearray, dice: random.Random) -> None:
        """Do it or not."""
        if dice.choice([True, False]):
            del content[self.size :]
            content.extend(bytes(self.size - len(content)))


_Pending: TypeAlias = _Write | _Cut


class _Node:
    """A file's content: what is on the disk, and what is on its way there."""

    __slots__ = ("_file", "durable", "pending")

    def __init__(self, file: File) -> None:
        self._file = file
        self.durable = b""
        self.pending: list[_Pending] = []

    def sync(self) -> None:
        self.durable = self._file.read_at(0, self._file.size())
        self.pending.clear()

    def after_cut(self, dice: random.Random) -> bytes:
        content = bytearray(self.durable)
        for change in self.pending:
            change.apply(content, dice)
        return bytes(content)


class _Tree:
    """The names that are on the disk."""

    __slots__ = ("directories", "files")

    def __init__(self, files: dict[str, _Node] | None = None) -> None:
        self.files = dict(files or {})
        self.directories = {""}

    def copy(self) -> _Tree:
        copied = _Tree(self.files)
        copied.directories = set(self.directories)
        return copied

    def make(self, path: str) -> None:
        self.directories.add(path)

    def move(self, old: str, new: str) -> None:
        self.files = {_moved(path, old, new): node for path, node in self._others_first(old)}
        self.directories = {_moved(path, old, new) for path in self.directories}

    def remove(self, path: str) -> None:
        self.files = {name: node for name, node in self.files.items() if not _within(name, path)}
        self.directories = {name for name in self.directories if not _within(name, path)}

    def _others_first(self, old: str) -> list[tuple[str, _Node]]:
        """What is moved comes last, so that it replaces what has its new name."""
        return sorted(self.files.items(), key=lambda item: _within(item[0], old))


class _Change(NamedTuple):
    """A change of names, and the directories it is durable with."""

    apply: Callable[[_Tree], object]
    directories: frozenset[str]


class _PowerCutFile:
    __slots__ = ("_file", "_node")

    def __init__(self, file: File, node: _Node) -> None:
        self._file = file
        self._node = node

    def read_at(self, position: int, length: int) -> bytes:
        return self._file.read_at(position, length)

    def write_at(self, position: int, parts: Sequence[Bytes]) -> None:
        data = b"".join(parts)
        self._file.write_at(position, [data])
        self._node.pending.append(_Write(position, data))

    def size(self) -> int:
        return self._file.size()

    def truncate(self, size: int) -> None:
        self._file.truncate(size)
        self._node.pending.append(_Cut(size))

    def sync(self) -> None:
        self._file.sync()
        self._node.sync()

    def close(self) -> None:
        self._file.close()


def _within(path: str, directory: str) -> bool:
    return path == directory or path.startswith(f"{directory}/")


def _moved(path: str, old: str, new: str) -> str:
    return new + path[len(old) :] if _within(path, old) else path
