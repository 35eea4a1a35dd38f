"""One level of a program as Spark runs it: every bucket of its operators is a group with state.

What is meant for a later level, or for the sink, passes through as it came.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
from pyspark.sql.streaming.state import GroupState

from penstock.kernel.parcel import Worked
from penstock.kernel.port import State, Time
from penstock.spark.batch_time import time_before, watermarks_after
from penstock.spark.dispatch import Dispatch, dispatch_of
from penstock.spark.packet import Account, Packet, in_order, merged_candidates
from penstock.spark.savepoint_files import saved_state
from penstock.spark.state_files import StateFiles, Stored
from penstock.spark.stored_program import codec_of

STATE_DDL = "blob binary"


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

    def __call__(
        self, key: tuple[Any, ...], frames: Iterator[pd.DataFrame], state: GroupState
    ) -> Iterator[pd.DataFrame]:
        """Take one group of a batch."""
        slot = int(key[0])
        blobs = [blob for frame in frames for blob in frame["blob"]]
        dispatch = dispatch_of(self.program, self.home, self.staging)
        owner = dispatch.slots.owner(slot)
        if owner is None or dispatch.program.keyed[owner[0]].level != self.number:
            yield _rows([(slot, blob) for blob in blobs])
            return
        bucket = _Bucket(self, dispatch, *owner)
        yield _rows(bucket.step(in_order(blobs), state))


class _Bucket:
    """One bucket of one operator in one batch."""

    def __init__(self, level: Level, dispatch: Dispatch, operator: str, bucket: int) -> None:
        self._level = level
        self._dispatch = dispatch
        self._program = dispatch.program
        self._operator = operator
        self._bucket = bucket
        codec = codec_of(level.program, operator)
        self._files = StateFiles(Path(level.memory) / operator / str(bucket), codec)

    def step(self, packets: list[Packet], state: GroupState) -> list[tuple[int, bytes]]:
        batch = next(packet.batch for packet in packets if packet.batch is not None)
        candidates = merged_candidates(packets)
        reached = watermarks_after(batch, self._program.physical.scans, candidates).reached
        deltas = [frame for packet in packets for _, frame in packet.parcels]
        before = self._before(state)
        if before is None and not deltas:
            worked, size = Worked(), 0
        else:
            # All buckets have the program's time, however long ago one of them was written.
            held = replace(State() if before is None else before.state, time=time_before(batch))
            time = Time(reached, batch.clock)
            fused = self._program.physical.settings.fuse
            worked = self._program.work(self._operator, held, deltas, time, chains=fused)
            size = self._keep(state, before, worked)
        order = self._program.physical.operators.index(self._program.keyed[self._operator])
        rows = 0 if worked.state is None else worked.state.rows
        remembered = ((self._operator, self._bucket, rows, size),)
        packet = Packet(
            origin=(self._level.number + 1, order, self._bucket),
            candidates=candidates,
            batch=batch,
            account=Account(worked.counts, {}, worked.wake_at, remembered),
        )
        told = self._told()
        return self._dispatch.send(worked.parcels, packet, batch, told=told, lane=self._bucket)

    def _before(self, state: GroupState) -> Stored | None:
        note: bytes | None = None
        if state.exists:
            note = bytes(state.get[0])
        elif self._level.inherited:
            note = saved_state(Path(self._level.inherited), self._operator, self._bucket)
        return None if note is None else self._files.load(note)

    def _keep(self, state: GroupState, before: Stored | None, worked: Worked) -> int:
        after = worked.state
        assert after is not None
        if before is None and not after.rows:
            return 0
        if state.exists and before is not None and _as_stored(before, after):
            return before.size
        note, size = self._files.save(before, after)
        state.update((note,))
        return size

    def _told(self) -> list[int]:
        """Give who learns the time from this bucket: its like in the next level."""
        levels = self._program.physical.levels
        following = self._level.number + 1
        leads = levels[self._level.number][0].id == self._operator
        if not leads or following >= len(levels):
            return []
        return [self._dispatch.slots.of(keyed.id, self._bucket) for keyed in levels[following]]


def _as_stored(before: Stored, after: State) -> bool:
    """Whether nothing has changed, and what is stored has the form of today."""
    one, other = before.state.tables, after.tables
    same = one.keys() == other.keys() and all(one[name] is other[name] for name in one)
    return same and not before.migrated


def _rows(packets: list[tuple[int, bytes]]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "slot": pd.Series([slot for slot, _ in packets], dtype="int32"),
            "blob": pd.Series([blob for _, blob in packets], dtype="object"),
        }
    )
