"""One level of a program as Spark runs it: a task has some buckets of its operators, with states.

Spark shares packets out by their slot and knows nothing of states: files hold these, and notes in
the checkpoint say which files count (`spark.notes`). What is meant for a later
level, or for the sink, passes through as it came.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path
from typing import Self

import pyarrow as pa

from penstock.kernel.parcel import Worked
from penstock.kernel.port import Counts, Frame, State, Time
from penstock.kernel.windowed import WindowedAggregate
from penstock.model.aggregate import Aggregate
from penstock.spark.batch_time import time_before, watermarks_after
from penstock.spark.dispatch import Dispatch, dispatch_of
from penstock.spark.notes import known_notes
from penstock.spark.packet import (
    Account,
    Packet,
    batch_of,
    encoded,
    in_order,
    merged_candidates,
    ordered,
)
from penstock.spark.program_options import ProgramOptions
from penstock.spark.program_read import packet_rows
from penstock.spark.savepoint_files import saved_state
from penstock.spark.state_files import StateFiles, Stored
from penstock.spark.stored_program import codec_of

_GIVEN_BYTES = 16 * 1024 * 1024
# It costs about as much as so many steps to look at a state by its keys for the first time.
_STEPS = 4


@dataclass(frozen=True, slots=True)
class Level:
    """The function of a level's groups: packets in, packets out, one state a bucket."""

    program: str
    number: int
    home: str
    staging: str
    memory: str
    """The folder of large states."""
    inherited: str = ""
    """The folder of states that the program began with, where it goes on after another."""
    frames: str = ""
    """The folder of frames on their way from task to task."""

    @classmethod
    def of(cls, options: ProgramOptions, number: int) -> Self:
        """Give a level of a program."""
        files = options.files
        inherited = str(files.inherited) if files.inherited.exists() else ""
        return cls(
            program=options.program,
            number=number,
            home=options.home,
            staging=options.staging,
            memory=str(files.memory),
            inherited=inherited,
            frames=options.frames,
        )

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Take the groups of one task, one after the other."""
        dispatch = dispatch_of(self.program, self.home, self.staging)
        waiting: list[tuple[int, bytes]] = []
        size = 0
        for slot, blobs in _by_slot(batches):
            sent = self._sent(dispatch, slot, blobs)
            waiting += sent
            size += sum(len(blob) for _, blob in sent)
            if size >= _GIVEN_BYTES:
                yield packet_rows(waiting)
                waiting, size = [], 0
        yield packet_rows(waiting)

    def _sent(self, dispatch: Dispatch, slot: int, blobs: list[bytes]) -> list[tuple[int, bytes]]:
        owner = self._owner(dispatch, slot)
        if owner is None:
            return [(slot, blob) for blob in blobs]
        packets = in_order(blobs)
        bucket = Bucket(self, dispatch, *owner)
        return encoded(bucket.step(packets, remembered(packets, *owner)), self.frames)

    def through(
        self, dispatch: Dispatch, sent: Sequence[tuple[int, Packet]]
    ) -> list[tuple[int, Packet]]:
        """Take all packets of a batch that is in one task; give those that leave."""
        left: list[tuple[int, Packet]] = []
        here: dict[int, list[Packet]] = {}
        for slot, packet in sent:
            if self._owner(dispatch, slot) is None:
                left.append((slot, packet))
            else:
                here.setdefault(slot, []).append(packet)
        for slot, found in sorted(here.items(), key=itemgetter(0)):
            owner = dispatch.slots.owner(slot)
            assert owner is not None
            packets = ordered(found)
            left += Bucket(self, dispatch, *owner).step(packets, remembered(packets, *owner))
        return left

    def _owner(self, dispatch: Dispatch, slot: int) -> tuple[str, int] | None:
        """Give the operator and the bucket that packets are for; none where not of this level."""
        owner = dispatch.slots.owner(slot)
        if owner is None or dispatch.program.keyed[owner[0]].level != self.number:
            return None
        return owner


class Remembered:
    """The note of a bucket: that of the batch before, until a new one takes its place."""

    def __init__(self, note: bytes | None) -> None:
        self.note = note

    @property
    def exists(self) -> bool:
        """Whether there is one of this generation of the checkpoint."""
        return self.note is not None

    def update(self, note: bytes) -> None:
        """Let a note count from now on."""
        self.note = note


def remembered(packets: list[Packet], operator: str, bucket: int) -> Remembered:
    """Give the note that a bucket has before a batch."""
    batch = batch_of(packets)
    known = known_notes(batch.notes) if batch.notes else {}
    return Remembered(known.get((operator, bucket)))


class Bucket:
    """One bucket of one operator in one batch."""

    def __init__(self, level: Level, dispatch: Dispatch, operator: str, bucket: int) -> None:
        self._level = level
        self._dispatch = dispatch
        self._program = dispatch.program
        self._operator = operator
        self._bucket = bucket
        codec = codec_of(level.program, operator)
        self.files = StateFiles(Path(level.memory) / operator / str(bucket), codec)

    def step(self, packets: list[Packet], state: Remembered) -> list[tuple[int, Packet]]:
        """Take the packets of a batch; give those that leave."""
        batch = batch_of(packets)
        candidates = merged_candidates(packets)
        reached = watermarks_after(batch, self._program.physical.scans, candidates).reached
        deltas = [frame for packet in packets for _, frame in packet.parcels]
        # All buckets have the program's time, however long ago one of them was written.
        times = time_before(batch), Time(reached, batch.clock)
        worked, rows, size = self.worked(state, deltas, times)
        order = self._program.physical.operators.index(self._program.keyed[self._operator])
        here = (self._operator, self._bucket)
        notes = () if state.note is None else ((*here, b64encode(state.note).decode()),)
        packet = Packet(
            origin=(self._level.number + 1, order, self._bucket),
            candidates=candidates,
            batch=batch,
            account=Account(worked.counts, {}, worked.wake_at, ((*here, rows, size),), notes=notes),
        )
        told = self._told()
        return self._dispatch.send(worked.parcels, packet, batch, told=told, lane=self._bucket)

    def worked(
        self, state: Remembered, deltas: list[Frame], times: tuple[Time, Time]
    ) -> tuple[Worked, int, int]:
        """Take the step; give also the rows and the bytes that are remembered."""
        before = self._before(state)
        if before is None and not deltas:
            return Worked(), 0, 0
        if before is not None and state.exists and _leaves_alone(before, times):
            done = self._part_worked(state, before, deltas, times)
            if done is not None:
                return done
        held = replace(State() if before is None else before.state, time=times[0])
        worked = self._work(held, deltas, times[1])
        size = self._keep(state, before, worked)
        return worked, 0 if worked.state is None else worked.state.rows, size

    def _alone_until(self, state: State) -> int | None:
        """Give the watermark up to which keys without rows stay as they are, if any do."""
        keyed = self._program.keyed[self._operator]
        if keyed.delay or not isinstance(keyed.relation, Aggregate):
            return None
        operator = self._program.operator(self._operator)
        return operator.alone_until(state) if isinstance(operator, WindowedAggregate) else None

    def _part_worked(
        self, state: Remembered, before: Stored, deltas: list[Frame], times: tuple[Time, Time]
    ) -> tuple[Worked, int, int] | None:
        """Take the step with what the keys of the rows have, if they are few."""
        assert before.rows is not None
        if not deltas:
            return Worked(counts={self._operator: Counts()}), before.rows, before.size
        portion = self.files.portion(before, deltas)
        if portion is None:
            return None
        worked = self._work(replace(portion.state, time=times[0]), deltas, times[1])
        after = worked.state
        assert after is not None
        if not after.tables and not portion.state.tables:
            return worked, before.rows, before.size
        until = self._alone_until(after)
        assert until is not None
        note, size, rows = self.files.save_portion(before, portion, after, until)
        state.update(note)
        return worked, rows, size

    def _work(self, held: State, deltas: list[Frame], time: Time) -> Worked:
        fused = self._program.physical.settings.fuse
        return self._program.work(self._operator, held, deltas, time, chains=fused)

    def _before(self, state: Remembered) -> Stored | None:
        note = state.note
        if note is None and self._level.inherited:
            note = saved_state(Path(self._level.inherited), self._operator, self._bucket)
        return None if note is None else self.files.open(note)

    def _keep(self, state: Remembered, before: Stored | None, worked: Worked) -> int:
        after = worked.state
        assert after is not None
        if before is None and not after.rows:
            return 0
        if state.exists and before is not None and _as_stored(before, after):
            return before.size
        note, size = self.files.save(before, after, self._alone_until(after))
        state.update(note)
        return size

    def _told(self) -> list[int]:
        """Give who learns the time from this bucket: its like in the next level."""
        levels = self._program.physical.levels
        following = self._level.number + 1
        leads = levels[self._level.number][0].id == self._operator
        if not leads or following >= len(levels):
            return []
        return [self._dispatch.slots.of(keyed.id, self._bucket) for keyed in levels[following]]


def _leaves_alone(before: Stored, times: tuple[Time, Time]) -> bool:
    """Whether a step leaves keys without rows as they are; and some more steps like it do."""
    now = times[1].watermark
    return before.rows is not None and now + _STEPS * (now - times[0].watermark) < before.until


def _as_stored(before: Stored, after: State) -> bool:
    """Whether nothing has changed, and what is stored has the form of today."""
    one, other = before.state.tables, after.tables
    same = one.keys() == other.keys() and all(one[name] is other[name] for name in one)
    return same and not before.migrated


def _by_slot(batches: Iterable[pa.RecordBatch]) -> list[tuple[int, list[bytes]]]:
    """Give the packets of each group; groups in the same order whenever a batch is run."""
    found: dict[int, list[bytes]] = {}
    for batch in batches:
        slots, blobs = batch.column(0).to_pylist(), batch.column(1).to_pylist()
        for slot, blob in zip(slots, blobs, strict=True):
            found.setdefault(slot, []).append(blob)
    return sorted(found.items())
