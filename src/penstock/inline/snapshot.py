"""A program's memory as snapshots: what a barrier gathered, written to whatever store is chosen."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

from penstock.errors import StateError
from penstock.inline.item import Barrier
from penstock.inline.pending import Pending, pending_bytes, read_pending
from penstock.inline.state_store import Bucket, Cut, Found, StateStore
from penstock.kernel.batch import Memory
from penstock.kernel.codec import decode, encode
from penstock.kernel.port import State, Time
from penstock.kernel.watermark import Watermarks
from penstock.log.port import Transaction
from penstock.log.record import TopicPartition
from penstock.model.physical import Physical
from penstock.setting_value import StateKind
from penstock.spark.state_codec import StateCodec
from penstock.spark.state_forms import check_forms, state_forms, warn_of_changes

_LENGTH = struct.Struct("<I")
_WATERMARKS = "watermarks"


@dataclass(frozen=True, slots=True)
class Kept:
    """What a snapshot holds: where the input was, and all that was remembered there.

    `pending` are the rows for stores that belong to it; they may be there already. `owner` is
    the name under which stores know who wrote it.
    """

    number: int
    offsets: Mapping[TopicPartition, int]
    memory: Memory
    owner: str
    pending: Pending
    origin: StateKind | None = None


class Snapshots:
    """Turns barriers into snapshots of a store and back."""

    def __init__(self, store: StateStore, physical: Physical) -> None:
        self._store = store
        self._physical = physical
        self._forms = state_forms(physical)
        self._codecs = {keyed.id: StateCodec(keyed) for keyed in physical.operators}
        self._before: Mapping[Bucket, State] = {}
        self.owner = uuid4().hex

    def current(self) -> int | None:
        """Give the number of the snapshot that counts; none before the first."""
        return self._store.current()

    def write(self, barrier: Barrier, within: Transaction | None) -> None:
        """Store what a barrier gathered, and what has changed since the one before."""
        states = dict(barrier.states)
        changed = {
            place for place, state in states.items() if not _same(self._before.get(place), state)
        }
        cut = Cut(
            barrier.number,
            self._header(barrier),
            buckets=frozenset(states),
            changed=frozenset(changed),
            gone=frozenset(self._before.keys() - states.keys()),
            encode=lambda place: self._codecs[place[0]].encode(states[place]),
        )
        self._store.write(cut, within)
        self._before = states

    def note(self, number: int) -> None:
        """Let a snapshot count."""
        self._store.note(number)

    def forget(self, number: int) -> None:
        """Forget all snapshots but one, which counts because its transaction is committed."""
        self._store.forget(number)

    def read(self, number: int) -> Kept:
        """Give a snapshot; one that is gone or not what was written is refused.

        States of another form are brought into that of the program, and count as changed.
        """
        found = self._store.read(number)
        if found is None:
            raise StateError(
                "SNAPSHOT_LOST",
                f'snapshot {number} of program "{self._physical.name}" is not there any more',
                hint="Rebuild the program from its topics; with the changelog or an external"
                " database as its state store this cannot happen.",
            )
        try:
            kept, migrated = self._decoded(found)
        except (struct.error, ValueError, KeyError) as error:
            raise StateError(
                "SNAPSHOT_BROKEN",
                f"snapshot {number} of the program is not what was written: {error}",
                hint="Start with a new checkpoint; the topics still have every record.",
            ) from error
        others = {place: State() for place in migrated}
        self._before, self.owner = {**kept.memory.states, **others}, kept.owner
        return kept

    def _header(self, barrier: Barrier) -> bytes:
        marks = encode(State({_WATERMARKS: barrier.watermarks.to_frame()}), _WATERMARKS)
        pending = pending_bytes(barrier.pending)
        front = json.dumps(
            {
                "owner": self.owner,
                "offsets": [[at.topic, at.partition, to] for at, to in barrier.offsets.items()],
                "watermark": barrier.time.watermark,
                "clock": barrier.time.clock,
                "forms": self._forms,
                "wakes": [[*place, wake] for place, wake in barrier.wakes.items()],
                "marks": len(marks),
            }
        ).encode()
        return b"".join((_LENGTH.pack(len(front)), front, marks, pending))

    def _decoded(self, found: Found) -> tuple[Kept, list[Bucket]]:
        """Give what a snapshot holds, and which buckets were stored in another form."""
        (length,) = _LENGTH.unpack_from(found.header)
        at = _LENGTH.size + length
        front: dict[str, Any] = json.loads(found.header[_LENGTH.size : at])
        warnings = check_forms(front.get("forms", {}), self._physical)
        marks = decode(found.header[at : at + front["marks"]], _WATERMARKS).tables[_WATERMARKS]
        time = Time(front["watermark"], front["clock"])
        read = {place: self._codecs[place[0]].decode(blob) for place, blob in found.blobs.items()}
        memory = Memory(
            Watermarks.from_frame(self._physical.scans, marks),
            time,
            # One that did not change lately was stored with an earlier time.
            {place: replace(state, time=time) for place, (state, _) in read.items()},
            {(operator, bucket): wake for operator, bucket, wake in front["wakes"]},
        )
        offsets = {TopicPartition(name, part): to for name, part, to in front["offsets"]}
        pending = read_pending(found.header[at + front["marks"] :])
        kept = Kept(found.number, offsets, memory, front["owner"], pending, found.origin)
        warn_of_changes(warnings)
        return kept, [place for place, (_, migrated) in read.items() if migrated]


def _same(one: State | None, other: State) -> bool:
    return (
        one is not None
        and one.tables.keys() == other.tables.keys()
        and all(table is other.tables[name] for name, table in one.tables.items())
    )
