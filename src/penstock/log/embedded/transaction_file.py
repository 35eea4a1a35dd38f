"""The file of a transactional id: who holds it, and what became of its last transaction.

Replacing this file is the one instant at which a transaction becomes committed, for
all its partitions and groups at once. Markers follow, and are made up for by whoever
finds them missing.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, replace
from typing import Literal

from penstock.errors import CorruptionError
from penstock.log.embedded.decisions import Outcome
from penstock.log.embedded.sealed_json import seal, unseal
from penstock.log.storage import Lock, Storage, held

TRANSACTIONS = "transactions"


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionState:
    """The newest epoch of an id and its last decided transaction."""

    transactional_id: str
    epoch: int = 0
    number: int = 0
    decided_epoch: int = 0
    status: Literal["none", "committed", "aborted"] = "none"
    partitions: tuple[tuple[str, int], ...] = ()
    groups: tuple[str, ...] = ()
    note: str = ""


def writer_id_of(transactional_id: str) -> int:
    """The writer id of a transactional id, the same in every process."""
    digest = hashlib.blake2b(transactional_id.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1


class TransactionFiles:
    """Reads and replaces the files of transactional ids; answers what became of a transaction."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def read(self, writer_id: int) -> TransactionState | None:
        """Give the state of an id; None where it was never used."""
        path = f"{TRANSACTIONS}/{writer_id}"
        try:
            data = self._storage.read(path)
        except FileNotFoundError:
            return None
        fields = unseal(data)
        if fields is None:
            raise CorruptionError(
                "TRANSACTION_CORRUPT",
                f'the transaction file "{path}" fails its checksum at byte 0',
                hint="Restore the file from a copy; it decides what readers may see.",
            )
        fields["partitions"] = tuple((topic, number) for topic, number in fields["partitions"])
        fields["groups"] = tuple(fields["groups"])
        return TransactionState(**fields)

    def write(self, writer_id: int, state: TransactionState) -> None:
        """Replace the state of an id, safe against a power cut."""
        self._storage.replace(f"{TRANSACTIONS}/{writer_id}", seal(asdict(state)), sync=True)

    def ids(self) -> list[int]:
        """The writer ids that have a file."""
        return [int(name) for name in self._storage.list(TRANSACTIONS) if name.isdigit()]

    def lock(self, writer_id: int) -> Lock:
        """The lock under which the state of an id is changed."""
        return self._storage.lock(f"{TRANSACTIONS}/{writer_id}.lock")

    def life(self, writer_id: int, epoch: int) -> Lock:
        """The lock that the holder of an epoch keeps for as long as it lives."""
        return self._storage.lock(f"{TRANSACTIONS}/{writer_id}-{epoch}.life")

    def end_life(self, writer_id: int, epoch: int) -> None:
        """Remove the lock file of an epoch that is over."""
        self._storage.remove(f"{TRANSACTIONS}/{writer_id}-{epoch}.life")

    def outcome(self, writer_id: int, epoch: int, number: int) -> Outcome:
        """Whether a transaction was committed or aborted; one whose holder died is aborted now."""
        state = self.read(writer_id)
        if state is None:
            return "aborted"
        if (state.decided_epoch, state.number) == (epoch, number) and state.status != "none":
            return state.status
        if state.epoch != epoch or number <= state.number:
            return "aborted"
        if self._holder_lives(writer_id, epoch):
            return "open"
        return self._abort_for_the_dead(writer_id, epoch, number)

    def fence(self, writer_id: int, epoch: int) -> TransactionState | None:
        """Move an id on from an epoch: what that epoch left open is aborted from now on."""
        lock = self.lock(writer_id)
        try:
            with held(lock):
                state = self.read(writer_id)
                if state is not None and state.epoch == epoch:
                    state = replace(state, epoch=epoch + 1)
                    self.write(writer_id, state)
                    self.end_life(writer_id, epoch)
                return state
        finally:
            lock.close()

    def _holder_lives(self, writer_id: int, epoch: int) -> bool:
        if not self._storage.exists(f"{TRANSACTIONS}/{writer_id}-{epoch}.life"):
            return False
        life = self.life(writer_id, epoch)
        try:
            return not life.acquire(timeout=0)
        except OSError:
            return True
        finally:
            life.close()

    def _abort_for_the_dead(self, writer_id: int, epoch: int, number: int) -> Outcome:
        try:
            self.fence(writer_id, epoch)
        except OSError:
            # A reader that may not or cannot write goes on with what is decided so far.
            return "open"
        state = self.read(writer_id)
        if state is not None and (state.decided_epoch, state.number) == (epoch, number):
            return "open" if state.status == "none" else state.status
        return "aborted"
