"""The files of one group, all below `groups/<name>`: topics know nothing of their readers.

`state` says who is in the group, `offsets` how far it has read; both are replaced as a
whole by whoever holds `lock`. A member holds `members/<id>.lock` for as long as its
process lives, and changes `members/<id>.beat` for as long as it is well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from urllib.parse import quote, unquote

from penstock.errors import GroupError
from penstock.log.embedded.group_state import GroupState, decode_state, encode_state
from penstock.log.embedded.offsets import GroupOffsets, decode_offsets, encode_offsets
from penstock.log.storage import Lock, Storage, Watch

GROUPS_DIRECTORY = "groups"
_LONGEST_FILE_NAME = 240
_PATIENCE = 30.0


def group_names(storage: Storage) -> list[str]:
    """The names of all groups, sorted."""
    return sorted(map(unquote, storage.list(GROUPS_DIRECTORY)))


class GroupFiles:
    """Reads and writes what a group keeps."""

    def __init__(self, storage: Storage, group: str) -> None:
        self.group = group
        self._storage = storage
        self._directory = f"{GROUPS_DIRECTORY}/{_directory_name(group)}"
        self._members = f"{self._directory}/members"
        self._state = f"{self._directory}/state"
        self._offsets = f"{self._directory}/offsets"
        self._lock = storage.lock(f"{self._directory}/lock")

    def exist(self) -> bool:
        """Whether the group was ever joined or given offsets."""
        return self._storage.exists(self._directory)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep every other member of the group from changing its files."""
        self._acquire()
        try:
            yield
        finally:
            self._lock.release()

    def state(self) -> GroupState:
        """Who is in the group; nobody before the first join."""
        return decode_state(self.state_content())

    def state_content(self) -> bytes:
        """The members as stored, so that a caller can see cheaply that nothing changed."""
        return self._read(self._state)

    def save_state(self, state: GroupState) -> None:
        """Publish who is in the group."""
        self._storage.replace(self._state, encode_state(state))

    def offsets(self) -> GroupOffsets:
        """How far the group has read; nowhere before the first commit."""
        data = self._read(self._offsets)
        return decode_offsets(data, self._offsets) if data else GroupOffsets()

    def save_offsets(self, offsets: GroupOffsets) -> None:
        """Store how far the group has read, so that it survives a power cut."""
        is_first = not self._storage.exists(self._offsets)
        self._storage.replace(self._offsets, encode_offsets(offsets), sync=True)
        if is_first:
            self._storage.sync_directory(GROUPS_DIRECTORY)
            self._storage.sync_directory("")

    def watch(self) -> Watch:
        """Wake up when the members change."""
        return self._storage.watch([self._state])

    def seat_lock(self, member_id: str) -> Lock:
        """The lock that says, while it is held, that a member's process lives."""
        return self._storage.lock(f"{self._members}/{member_id}.lock")

    def is_alive(self, member_id: str) -> bool:
        """Whether a member's process lives; it may still be stuck."""
        if not self._storage.exists(f"{self._members}/{member_id}.lock"):
            return False
        lock = self.seat_lock(member_id)
        try:
            return not lock.acquire(timeout=0)
        finally:
            lock.close()

    def beat(self, member_id: str, count: int, now: int) -> None:
        """Show that a member is well."""
        self._storage.replace(f"{self._members}/{member_id}.beat", f"{count} {now}".encode())

    def last_beat(self, member_id: str) -> bytes:
        """What a member showed last: it changes with every heartbeat."""
        return self._read(f"{self._members}/{member_id}.beat")

    def sweep(self, members: Iterable[str]) -> None:
        """Remove the files of everybody but these members; the caller holds the lock."""
        kept = {f"{member}.{kind}" for member in members for kind in ("lock", "beat")}
        for name in self._storage.list(self._members):
            if name not in kept:
                self._storage.remove(f"{self._members}/{name}")

    def remove(self) -> None:
        """Remove the group; the caller holds the lock."""
        self._storage.remove_tree(self._directory)

    def close(self) -> None:
        """Let go of the group's lock."""
        self._lock.close()

    def _acquire(self) -> None:
        while True:
            self._storage.make_directory(self._members)
            try:
                is_held = self._lock.acquire(timeout=_PATIENCE)
            except FileNotFoundError:
                continue  # somebody removed the group at this moment
            if not is_held:
                raise GroupError(
                    "GROUP_BUSY",
                    f'the files of group "{self.group}" have been locked for {_PATIENCE:g} seconds',
                    hint="A process of the group is stopped or hangs: continue it or end it.",
                )
            if self._storage.exists(self._members):
                return
            self._lock.release()

    def _read(self, path: str) -> bytes:
        try:
            return self._storage.read(path)
        except FileNotFoundError:
            return b""


def _directory_name(group: str) -> str:
    encoded = quote(group, safe="")
    if encoded.startswith("."):
        encoded = f"%2E{encoded[1:]}"  # neither the directory above nor a hidden file
    if not encoded or len(encoded) > _LONGEST_FILE_NAME:
        raise GroupError(
            "GROUP_NAME",
            f'group name "{group}" has no characters or too many',
            hint=f"Use 1 to {_LONGEST_FILE_NAME} letters, digits, dashes and underscores.",
        )
    return encoded
