"""Appending to one partition: one writer at a time, any process, nothing half done."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from penstock.clock import Clock
from penstock.errors import TopicError
from penstock.log.embedded.aborted import (
    ENTRY_SIZE as ABORTED_SIZE,
)
from penstock.log.embedded.aborted import (
    AbortedTransaction,
    aborted_file,
    encode_aborted,
)
from penstock.log.embedded.active import ActiveSegment, aborted_by, follow_frame, mend_tail
from penstock.log.embedded.batch import EncodedRows, Placement, place
from penstock.log.embedded.decisions import TransactionDecisions
from penstock.log.embedded.frame import (
    ABORT_MARKER,
    COMMIT_MARKER,
    TRANSACTIONAL,
    Frame,
    encode_frame,
)
from penstock.log.embedded.head import (
    HEAD_FILE,
    Head,
    OpenTransaction,
    publish_head,
    read_head,
)
from penstock.log.embedded.sealing import head_after_sealing, prepare_sealing
from penstock.log.embedded.writer_book import WriterBook
from penstock.log.embedded.writers import LastAppend
from penstock.log.port import Appended, WriterStamp
from penstock.log.storage import Bytes, Storage
from penstock.log.topic import Topic

LOCK_FILE = "lock"


class PartitionAppender:
    """Appends frames and markers, seals segments, publishes heads."""

    def __init__(
        self,
        storage: Storage,
        directory: str,
        topic: Topic,
        *,
        clock: Clock,
        decisions: TransactionDecisions,
        on_sealed: Callable[[], None] = lambda: None,
    ) -> None:
        self._on_sealed = on_sealed
        self._storage = storage
        self._directory = directory
        self._config = topic.config
        self._clock = clock
        self._decisions = decisions
        self._lock = storage.lock(f"{directory}/{LOCK_FILE}")
        self._head_file = storage.open(f"{directory}/{HEAD_FILE}", write=True)
        self._active: ActiveSegment | None = None
        self._writers = WriterBook(storage, directory)
        self._synced_at = 0

    @contextlib.contextmanager
    def locked(self) -> Iterator[Head]:
        """Hold the partition: give its head, tail mended, and forget all on failure."""
        self._lock.acquire()
        try:
            yield self._current_head()
        except BaseException:
            self._forget()
            raise
        finally:
            self._lock.release()

    def append(
        self,
        rows: Sequence[EncodedRows],
        *,
        stamp: WriterStamp | None = None,
        transaction: int | None = None,
    ) -> Appended:
        """Append encoded rows as one step: all of them or none."""
        with self.locked() as locked_head:
            mine = None if stamp is None else (stamp.writer_id, stamp.epoch, transaction)
            head = self._settle(locked_head, mine) if locked_head.open else locked_head
            repeated = self._repeat(rows, stamp)
            if repeated is not None:
                return repeated
            room = self._make_room(head, sum(part.payload.data.size + 192 for part in rows))
            return self._write_rows(rows, room, stamp, transaction)

    def append_marker(self, transaction: OpenTransaction, *, committed: bool) -> None:
        """Decide a transaction in this partition, unless that was done before."""
        with self.locked() as head:
            if any(item.key == transaction.key for item in head.open):
                self._write_marker(self._make_room(head, 0), transaction, committed=committed)

    def force_marker(self, transaction: OpenTransaction, *, committed: bool) -> int:
        """Write a marker whether or not rows of the transaction are here; give its offset."""
        with self.locked() as head:
            self._write_marker(self._make_room(head, 0), transaction, committed=committed)
            return head.end_offset

    def roll(self) -> None:
        """Seal the active segment, unless it is empty."""
        with self.locked() as head:
            self._seal(head)

    def sync(self) -> None:
        """Return when everything appended so far would survive a power cut."""
        with self.locked():
            self._segment.sync()

    def publish(self, head: Head) -> Head:
        """Publish a head made by retention or compaction; call it inside `locked`."""
        published = publish_head(self._head_file, head)
        self._writers.head_changed(published)
        return published

    def publish_durably(self, head: Head) -> Head:
        """Publish a head and return when neither a crash nor a tear can undo it."""
        published = self.publish(head)
        self._head_file.sync()
        return published

    def seal(self, head: Head) -> Head:
        """Seal the active segment inside `locked`; give the new head."""
        return self._seal(head)

    def last_appends(self) -> dict[int, LastAppend]:
        """The last append of every writer this partition remembers."""
        with self.locked():
            return self._writers.table.last_appends()

    def configure(self, topic: Topic) -> None:
        """Use changed settings from the next append on."""
        self._config = topic.config

    def close(self) -> None:
        """Sync what the topic's policy owes, save what is known of writers, let go of files."""
        # Under the lock, so that no other thread is in the middle of an append; it cannot be
        # had where the topic was removed.
        with contextlib.suppress(OSError):
            self._lock.acquire()
            if self._active is not None and self._config.fsync != "os":
                self._active.sync()
        self._writers.save()
        self._forget()
        self._lock.close()
        self._head_file.close()

    @property
    def _segment(self) -> ActiveSegment:
        if self._active is None:
            head = read_head(self._head_file, f"{self._directory}/{HEAD_FILE}")
            self._active = ActiveSegment(self._storage, self._directory, head.active_base)
        return self._active

    def _current_head(self) -> Head:
        path = f"{self._directory}/{HEAD_FILE}"
        head = read_head(self._head_file, path)
        if head.deleted:
            raise TopicError(
                "TOPIC_MISSING",
                f'the topic of "{self._directory}" was deleted',
                hint="Create it again, or list what exists with `penstock topics list`.",
            )
        if self._active is None or self._active.base_offset != head.active_base:
            if self._active is not None:
                self._active.close()
            self._active = ActiveSegment(self._storage, self._directory, head.active_base)
        mended, aborted = mend_tail(self._active, head)
        if mended != head:
            mended = publish_head(self._head_file, self._note_aborted(mended, aborted))
        if self._writers.change != mended.change:
            self._active.others_wrote()
            self._writers.catch_up(mended)
        return mended

    def _forget(self) -> None:
        if self._active is not None:
            self._active.close()
            self._active = None
        self._writers.forget()

    def _repeat(self, rows: Sequence[EncodedRows], stamp: WriterStamp | None) -> Appended | None:
        if stamp is None:
            return None
        return self._writers.table.check(stamp, sum(part.records for part in rows))

    def _write_rows(
        self,
        rows: Sequence[EncodedRows],
        head: Head,
        stamp: WriterStamp | None,
        transaction: int | None,
    ) -> Appended:
        frames: list[Frame] = []
        parts: list[Bytes] = []
        after = head
        for encoded in rows:
            at = Placement(
                after.end_offset, self._clock.now(), stamp, transaction, continues=bool(frames)
            )
            frame, written = place(encoded, at)
            frames.append(frame)
            parts.extend(written)
            after = follow_frame(after, frame)
            if stamp is not None:
                stamp = stamp._replace(sequence=stamp.sequence + encoded.records)
        if not frames:
            return Appended(head.end_offset, head.end_offset - 1)
        self._write(head, after, parts, frames, sync=transaction is None)
        return Appended(head.end_offset, after.end_offset - 1)

    def _write(
        self,
        head: Head,
        after: Head,
        parts: Sequence[Bytes],
        frames: Sequence[Frame],
        *,
        sync: bool,
    ) -> Head:
        segment = self._segment
        segment.write(head.end_position, parts)
        # A transaction's rows are nobody's before its commit, which syncs them.
        if sync and self._config.fsync == "always":
            segment.sync()
        if segment.synced:
            after = replace(after, synced_position=after.end_position)
        published = publish_head(self._head_file, after)
        # After the head: an entry that a killed writer left beyond it would mislead readers.
        # The rows are published; that the index lacks an entry must not look like a failure.
        with contextlib.suppress(OSError):
            segment.index(after, self._config.index_interval_bytes)
        self._writers.follow(frames, published)
        if self._config.fsync == "interval":
            self._sync_now_and_then()
        return published

    def _write_marker(self, head: Head, transaction: OpenTransaction, *, committed: bool) -> Head:
        now = self._clock.now()
        frame = Frame(
            kind=COMMIT_MARKER if committed else ABORT_MARKER,
            flags=TRANSACTIONAL,
            base_offset=head.end_offset,
            records=1,
            min_timestamp=now,
            max_timestamp=now,
            appended_at=now,
            writer_id=transaction.writer_id,
            epoch=transaction.epoch,
            transaction=transaction.number,
        )
        after = follow_frame(head, frame)
        if not committed:
            after = self._note_aborted(after, aborted_by(head, frame))
        return self._write(head, after, encode_frame(frame), [frame], sync=False)

    def _note_aborted(self, head: Head, aborted: Sequence[AbortedTransaction]) -> Head:
        if not aborted:
            return head
        path = f"{self._directory}/{aborted_file(head.manifest_generation)}"
        file = self._storage.open(path, create=True)
        try:
            file.write_at(head.aborted_count * ABORTED_SIZE, [encode_aborted(aborted)])
            file.sync()
        finally:
            file.close()
        if head.aborted_count == 0:
            self._storage.sync_directory(self._directory)
        return replace(head, aborted_count=head.aborted_count + len(aborted))

    def _settle(self, head: Head, mine: tuple[int, int, int | None] | None) -> Head:
        """Write the markers that decided transactions other than the caller's still lack."""
        for item in head.open:
            if item.key == mine:
                continue
            outcome = self._decisions.outcome(*item.key)
            if outcome != "open":
                head = self._write_marker(head, item, committed=outcome == "committed")
        return head

    def _make_room(self, head: Head, size: int) -> Head:
        full = head.end_position + size > self._config.segment_bytes
        age = self._config.segment_age
        old = (
            age is not None
            and head.active_since >= 0
            and self._clock.now() - head.active_since > age.total_seconds() * 1000
        )
        if not (full or old):
            return head
        sealed = self._seal(head)
        self._on_sealed()
        return sealed

    def _seal(self, head: Head) -> Head:
        if head.end_position == 0:
            return head
        if self._config.fsync != "os":
            self._segment.sync()
        following = prepare_sealing(self._storage, self._directory, head)
        published = publish_head(self._head_file, head_after_sealing(head))
        self._head_file.sync()
        self._segment.close()
        self._active = following
        self._writers.head_changed(published)
        self._writers.save()
        return published

    def _sync_now_and_then(self) -> None:
        now = self._clock.now()
        if abs(now - self._synced_at) >= self._config.fsync_interval.total_seconds() * 1000:
            self._segment.sync()
            self._synced_at = now
