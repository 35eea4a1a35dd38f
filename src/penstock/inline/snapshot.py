"""A program's memory on disk: one file a snapshot, and the number of the one that counts."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from penstock.errors import StateError
from penstock.inline.item import Barrier
from penstock.kernel.batch import Memory
from penstock.kernel.codec import decode, encode
from penstock.kernel.port import State, Time
from penstock.kernel.watermark import Watermarks
from penstock.log.record import TopicPartition
from penstock.model.physical import Physical
from penstock.plan.fingerprint import state_fingerprint
from penstock.spark.job_files import write_durably

_LENGTH = struct.Struct("<I")
_WATERMARKS = "watermarks"


@dataclass(frozen=True, slots=True)
class Kept:
    """What a snapshot holds: where the input was, and all that was remembered there."""

    number: int
    offsets: Mapping[TopicPartition, int]
    memory: Memory


class Snapshots:
    """The snapshots of one checkpoint."""

    def __init__(self, folder: Path, physical: Physical) -> None:
        self._folder = folder / "inline"
        self._physical = physical
        self._prints = {keyed.id: state_fingerprint(keyed) for keyed in physical.operators}

    def write(self, barrier: Barrier) -> None:
        """Store what a barrier gathered; it counts once its number is noted."""
        blobs = [
            encode(state, self._prints[operator]) for (operator, _), state in barrier.states.items()
        ]
        marks = encode(State({_WATERMARKS: barrier.watermarks.to_frame()}), _WATERMARKS)
        header = json.dumps(
            {
                "offsets": [[at.topic, at.partition, to] for at, to in barrier.offsets.items()],
                "watermark": barrier.time.watermark,
                "clock": barrier.time.clock,
                "wakes": [[*place, wake] for place, wake in barrier.wakes.items()],
                "states": [
                    [*place, len(blob)] for place, blob in zip(barrier.states, blobs, strict=True)
                ],
                "marks": len(marks),
            }
        ).encode()
        whole = b"".join((_LENGTH.pack(len(header)), header, marks, *blobs))
        write_durably(self._path(barrier.number), whole)

    def note(self, number: int) -> None:
        """Let a snapshot count, and remove those before it."""
        write_durably(self._folder / "current", str(number).encode())
        self.forget(number)

    def forget(self, number: int) -> None:
        """Remove all snapshots but one."""
        for path in self._folder.glob("memory-*"):
            if path != self._path(number):
                path.unlink(missing_ok=True)

    def current(self) -> int | None:
        """Give the number of the snapshot that counts."""
        try:
            return int((self._folder / "current").read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None

    def read(self, number: int) -> Kept:
        """Give a snapshot; one that is not what was written is refused."""
        try:
            whole = self._path(number).read_bytes()
            (length,) = _LENGTH.unpack_from(whole)
            header: dict[str, Any] = json.loads(whole[_LENGTH.size : _LENGTH.size + length])
        except (OSError, struct.error, ValueError) as error:
            raise StateError(
                "SNAPSHOT_BROKEN",
                f"snapshot {number} of the program cannot be read: {error}",
                hint="Start with a new checkpoint; the topics still have every record.",
            ) from error
        at = _LENGTH.size + length
        marks = decode(whole[at : at + header["marks"]], _WATERMARKS).tables[_WATERMARKS]
        at += header["marks"]
        states: dict[tuple[str, int], State] = {}
        for operator, bucket, size in header["states"]:
            states[operator, bucket] = decode(whole[at : at + size], self._prints[operator])
            at += size
        watermarks = Watermarks.from_frame(self._physical.scans, marks)
        memory = Memory(
            replace(watermarks),
            Time(header["watermark"], header["clock"]),
            states,
            {(operator, bucket): wake for operator, bucket, wake in header["wakes"]},
        )
        offsets = {TopicPartition(name, part): to for name, part, to in header["offsets"]}
        return Kept(number, offsets, memory)

    def _path(self, number: int) -> Path:
        return self._folder / f"memory-{number}"
