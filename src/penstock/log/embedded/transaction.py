"""A transaction over partitions, topics and group offsets: all seen or none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Protocol

import pyarrow as pa

from penstock.errors import TransactionError
from penstock.log.embedded.head import OpenTransaction
from penstock.log.embedded.transaction_file import (
    TransactionFiles,
    TransactionState,
    writer_id_of,
)
from penstock.log.port import Appended, WriterStamp
from penstock.log.record import TopicPartition
from penstock.log.storage import Lock, held


class Partitions(Protocol):
    """What a transaction needs of the log it belongs to."""

    def append_in_transaction(
        self, target: TopicPartition, rows: pa.Table, *, stamp: WriterStamp, number: int
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


StageOffsets = Callable[[str, Mapping[TopicPartition, int], int, int, int], None]


class EmbeddedTransaction:
    """Holds one transactional id; a later holder fences this one."""

    def __init__(
        self,
        transactional_id: str,
        files: TransactionFiles,
        partitions: Partitions,
        stage_offsets: StageOffsets,
    ) -> None:
        self._files = files
        self._partitions = partitions
        self._stage_offsets = stage_offsets
        self._writer_id = writer_id_of(transactional_id)
        self._lock = files.lock(self._writer_id)
        self._sequences: dict[TopicPartition, int] = {}
        self._touched: set[TopicPartition] = set()
        self._groups: set[str] = set()
        self._owed_sync: set[TopicPartition] = set()
        self._open = False
        self._state, self._life = self._take_over(transactional_id)

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
                f'transaction "{self._state.transactional_id}" is open already',
                hint="Commit or abort it before the next begin.",
            )
        self._touched.clear()
        self._groups.clear()
        self._open = True

    def append(self, topic: str, partition: int, rows: pa.Table) -> Appended:
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
        self._stage_offsets(
            group, offsets, self._writer_id, self._state.epoch, self._state.number + 1
        )

    def commit(self, note: str = "") -> None:
        """Make everything visible at once, with a note that `note` gives back after a restart."""
        self._require_open()
        # Markers of the transaction before may not be on disk yet, and its decision is about
        # to be replaced: sync them first, together with the rows of this one.
        for target in self._touched | self._owed_sync:
            self._partitions.sync_partition(target)
        self._decide("committed", note)
        self._mark_all(committed=True)

    def abort(self) -> None:
        """Make everything vanish."""
        self._require_open()
        for target in self._owed_sync:
            self._partitions.sync_partition(target)
        self._decide("aborted", self._state.note)
        self._mark_all(committed=False)

    def close(self) -> None:
        """Abort what is open and let go of the id."""
        try:
            if self._open:
                self.abort()
        finally:
            self._life.close()
            self._lock.close()

    def __enter__(self) -> EmbeddedTransaction:
        """Use the id for the length of a with block."""
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _take_over(self, transactional_id: str) -> tuple[TransactionState, Lock]:
        earlier = self._files.read(self._writer_id)
        if earlier is not None:
            self._finish(earlier)
        with held(self._lock):
            known = self._files.read(self._writer_id)
            state = known or TransactionState(transactional_id=transactional_id)
            state = replace(state, epoch=state.epoch + 1)
            life = self._files.life(self._writer_id, state.epoch)
            life.acquire(timeout=0)
            self._files.write(self._writer_id, state)
        return state, life

    def _finish(self, earlier: TransactionState) -> None:
        """Write the markers a holder that died after its decision may not have written."""
        if earlier.status == "none":
            return
        decided = OpenTransaction(self._writer_id, earlier.decided_epoch, earlier.number, 0)
        for topic, partition in earlier.partitions:
            target = TopicPartition(topic, partition)
            self._partitions.mark(target, decided, committed=earlier.status == "committed")
            self._partitions.sync_partition(target)

    def _decide(self, status: str, note: str) -> None:
        with held(self._lock):
            known = self._files.read(self._writer_id)
            if known is None or known.epoch != self._state.epoch:
                self._open = False
                raise TransactionError(
                    "WRITER_FENCED",
                    f'transaction "{self._state.transactional_id}" of epoch {self._state.epoch}'
                    " was taken over by another holder",
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
            self._files.write(self._writer_id, decided)
            self._state = decided

    def _mark_all(self, *, committed: bool) -> None:
        # Decided: from here on the transaction is over, whatever happens to its markers.
        self._open = False
        decided = OpenTransaction(self._writer_id, self._state.epoch, self._state.number, 0)
        self._owed_sync = set(self._touched)
        for target in self._touched:
            self._partitions.mark(target, decided, committed=committed)

    def _require_open(self) -> None:
        if not self._open:
            raise TransactionError(
                "TRANSACTION_NOT_OPEN",
                f'transaction "{self._state.transactional_id}" is not open',
                hint="Call begin() first.",
            )
