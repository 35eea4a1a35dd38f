"""A transaction over partitions, topics and group offsets: all seen or none."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

import pyarrow as pa

from penstock.errors import PenstockError, TransactionError
from penstock.log.embedded.head import OpenTransaction
from penstock.log.embedded.refusals import coded_storage_errors
from penstock.log.embedded.transaction_file import (
    TransactionFiles,
    TransactionState,
    writer_id_of,
)
from penstock.log.port import Appended, WriterStamp
from penstock.log.prepared import Prepared
from penstock.log.record import TopicPartition
from penstock.log.storage import Lock, held


class Partitions(Protocol):
    """What a transaction needs of the log it belongs to."""

    def append_in_transaction(
        self,
        target: TopicPartition,
        rows: pa.Table | Prepared,
        *,
        stamp: WriterStamp,
        number: int,
    ) -> Appended:
        """Append rows that belong to a transaction."""
        ...

    def mark(
        self, target: TopicPartition, transaction: OpenTransaction, *, committed: bool
    ) -> None:
        """Write a transaction's marker, unless it is there."""
        ...

    def sync_partition(self, target: TopicPartition) -> None:
        """Return when the partition would survive a power cut, where its topic asks for that."""
        ...


class GroupOffsets(Protocol):
    """What a transaction needs of consumer groups."""

    def stage(
        self,
        group: str,
        offsets: Mapping[TopicPartition, int],
        writer_id: int,
        epoch: int,
        number: int,
    ) -> None:
        """Let offsets become committed when a transaction is, and vanish when it is aborted."""
        ...

    def settle(self, group: str) -> None:
        """Write down what transactions have decided, so that their outcome may be forgotten."""
        ...


class EmbeddedTransaction:
    """Holds one transactional id; a later holder fences this one."""

    def __init__(
        self,
        transactional_id: str,
        files: TransactionFiles,
        partitions: Partitions,
        groups: GroupOffsets,
    ) -> None:
        self._files = files
        self._partitions = partitions
        self._group_offsets = groups
        self._writer_id = writer_id_of(transactional_id)
        self._lock = files.lock(self._writer_id)
        self._sequences: dict[TopicPartition, int] = {}
        self._touched: set[TopicPartition] = set()
        self._groups: set[str] = set()
        self._owed_sync: set[TopicPartition] = set()
        self._owed_markers: set[TopicPartition] = set()
        self._owed_groups: set[str] = set()
        self._open = False
        self._state, self._life = self._take_over(transactional_id)
        try:
            self._pay_debts()
        except BaseException:
            self._life.close()
            raise

    @property
    def note(self) -> str:
        """The note of the last transaction committed under this id ("" before the first)."""
        return self._state.note

    @property
    def epoch(self) -> int:
        """The epoch this holder writes under."""
        return self._state.epoch

    def begin(self) -> None:
        """Open a transaction; one at a time for each id."""
        if self._open:
            raise TransactionError(
                "TRANSACTION_OPEN",
                f"{self._name} is open already",
                hint="Commit or abort it before the next begin.",
            )
        self._touched.clear()
        self._groups.clear()
        self._open = True

    def append(self, topic: str, partition: int, rows: pa.Table | Prepared) -> Appended:
        """Append rows that nobody sees before `commit`."""
        self._require_open()
        target = TopicPartition(topic, partition)
        sequence = self._sequences.get(target, 0)
        stamp = WriterStamp(self._writer_id, self._state.epoch, sequence)
        # Before the append: one that fails half-way must be aborted there too.
        self._touched.add(target)
        done = self._partitions.append_in_transaction(
            target, rows, stamp=stamp, number=self._state.number + 1
        )
        self._sequences[target] = sequence + rows.num_rows
        return done

    def commit_offsets(self, group: str, offsets: Mapping[TopicPartition, int]) -> None:
        """Let a group's offsets become committed together with the records."""
        self._require_open()
        self._groups.add(group)
        with coded_storage_errors(f'committing offsets of group "{group}"'):
            self._group_offsets.stage(
                group, offsets, self._writer_id, self._state.epoch, self._state.number + 1
            )

    def commit(self, note: str = "") -> None:
        """Make everything visible at once, with a note that `note` gives back after a restart."""
        self._require_open()
        with coded_storage_errors(f"committing {self._name}"):
            self._pay_debts()
            for target in self._touched | self._owed_sync:
                self._partitions.sync_partition(target)
            self._decide("committed", note)
            self._conclude()

    def abort(self) -> None:
        """Make everything vanish."""
        self._require_open()
        with coded_storage_errors(f"aborting {self._name}"):
            self._pay_debts()
            for target in self._owed_sync:
                self._partitions.sync_partition(target)
            self._decide("aborted", self._state.note)
            self._conclude()

    def close(self) -> None:
        """Abort what is open and let go of the id."""
        try:
            if self._open:
                self.abort()
        finally:
            self._life.close()
            self._lock.close()
            with contextlib.suppress(OSError):
                self._files.end_life(self._writer_id, self._state.epoch)

    @property
    def _name(self) -> str:
        return f'transaction "{self._state.transactional_id}"'

    def __enter__(self) -> EmbeddedTransaction:
        """Use the id for the length of a with block."""
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _take_over(self, transactional_id: str) -> tuple[TransactionState, Lock]:
        with held(self._lock):
            known = self._files.read(self._writer_id)
            state = known or TransactionState(transactional_id=transactional_id)
            state = replace(state, epoch=state.epoch + 1)
            life = self._files.life(self._writer_id, state.epoch)
            life.acquire(timeout=0)
            self._files.write(self._writer_id, state)
            self._files.end_life(self._writer_id, state.epoch - 1)
        # The holder before may have died after its decision and before its markers.
        if state.status != "none":
            self._owed_markers = {TopicPartition(*target) for target in state.partitions}
            self._owed_groups = set(state.groups)
        return state, life

    def _pay_debts(self) -> None:
        """Write what the last decision still lacks, before another one takes its place.

        Readers ask for the outcome of a transaction that has no marker. Once the next
        decision replaces this one, a missing marker would read as an abort.
        """
        state = self._state
        decided = OpenTransaction(self._writer_id, state.decided_epoch, state.number, 0)
        for target in sorted(self._owed_markers):
            self._partitions.mark(target, decided, committed=state.status == "committed")
            self._owed_markers.discard(target)
            self._owed_sync.add(target)
        for group in sorted(self._owed_groups):
            self._group_offsets.settle(group)
            self._owed_groups.discard(group)

    def _decide(self, status: str, note: str) -> None:
        with held(self._lock):
            known = self._files.read(self._writer_id)
            if known is None or known.epoch != self._state.epoch:
                self._open = False
                raise TransactionError(
                    "WRITER_FENCED",
                    f"{self._name} of epoch {self._state.epoch} was taken over by another holder",
                    hint="Nothing of it is visible: close this producer.",
                )
            decided = replace(
                self._state,
                number=self._state.number + 1,
                decided_epoch=self._state.epoch,
                status="committed" if status == "committed" else "aborted",
                partitions=tuple((target.topic, target.partition) for target in self._touched),
                groups=tuple(sorted(self._groups)),
                note=note,
            )
            self._write_decision(decided)
            self._state = decided

    def _write_decision(self, decided: TransactionState) -> None:
        try:
            self._files.write(self._writer_id, decided)
        except OSError:
            # It may have failed after the file was replaced: then readers have seen the outcome.
            if self._files.read(self._writer_id) != decided:
                raise

    def _conclude(self) -> None:
        # Decided: the transaction is over and seen as such, whatever happens to its markers.
        self._open = False
        self._owed_sync = set()
        self._owed_markers = set(self._touched)
        self._owed_groups = set(self._groups)
        with contextlib.suppress(PenstockError, OSError):
            self._pay_debts()

    def _require_open(self) -> None:
        if not self._open:
            raise TransactionError(
                "TRANSACTION_NOT_OPEN",
                f"{self._name} is not open",
                hint="Call begin() first.",
            )
