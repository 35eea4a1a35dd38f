"""What travels between the stages of a program: frames, the time, and the accounts, as bytes.

Spark sees one binary value a bucket and sender. A packet that only passes a stage is handed on
as it came.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import pyarrow as pa

from penstock.kernel.arrival import Skew
from penstock.kernel.port import Counts, Frame
from penstock.kernel.watermark import Place
from penstock.spark.batch import Batch
from penstock.spark.frame_file import mapped, read_frame, write_file, write_frame
from penstock.spark.stage import Piece, Staged

_FRONT = 4
_ALIGN = 64
_IN_PACKET_BYTES = 64 * 1024
"""More bytes of frames than this are worth a file: Spark carries its name instead of them."""

Origin: TypeAlias = tuple[int, ...]
"""Who sent it, so that packets are taken in the same order when a batch is run again."""


@dataclass(frozen=True, slots=True)
class Account:
    """What a sender has to tell beside its rows.

    `state` holds rows and bytes of what a bucket of an operator remembers, and `notes` what leads
    to it; `at` is the offset the batch ends at, told by the first reader.
    """

    counts: Mapping[str, Counts] = field(default_factory=dict)
    skew: Mapping[str, Skew] = field(default_factory=dict)
    wake_at: int | None = None
    state: tuple[tuple[str, int, int, int], ...] = ()
    at: Mapping[str, Any] | None = None
    notes: tuple[tuple[str, int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Packet:
    """What one sender sends to one bucket, or to the sink.

    `candidates` are the watermarks that partitions claim; `batch` is known to the first
    sender only, who passes it on. Many rows for outputs are `staged` where they were made.
    """

    origin: Origin
    parcels: tuple[tuple[str, Frame], ...] = ()
    candidates: Mapping[Place, int | None] = field(default_factory=dict)
    batch: Batch | None = None
    account: Account | None = None
    staged: Staged | None = None


def encode(packet: Packet, folder: str = "") -> bytes:
    """Write a packet, its frames into a file where there are many rows and a folder for it."""
    frames = [frame for _, frame in packet.parcels]
    body, file = b"", ""
    if folder and sum(frame.estimated_size() for frame in frames) > _IN_PACKET_BYTES:
        file, sizes = write_file(folder, frames)
    else:
        stream = io.BytesIO()
        sizes = [write_frame(frame, stream) for frame in frames]
        body = stream.getvalue()
    head = {
        "origin": packet.origin,
        "parcels": [
            (target, size) for (target, _), size in zip(packet.parcels, sizes, strict=True)
        ],
        "file": file,
        "candidates": [(*place, said) for place, said in packet.candidates.items()],
        "batch": None if packet.batch is None else packet.batch.to_json(),
        "account": None if packet.account is None else _account_json(packet.account),
        "staged": None if packet.staged is None else _staged_json(packet.staged),
    }
    text = json.dumps(head).encode()
    text += b" " * (-(_FRONT + len(text)) % _ALIGN)
    return b"".join((len(text).to_bytes(_FRONT, "little"), text, body))


def encoded(sent: Iterable[tuple[int, Packet]], folder: str = "") -> list[tuple[int, bytes]]:
    """Write packets that are sent to slots."""
    return [(slot, encode(packet, folder)) for slot, packet in sent]


def decode(blob: bytes) -> Packet:
    """Read what `encode` wrote."""
    start = _FRONT + int.from_bytes(blob[:_FRONT], "little")
    head = json.loads(blob[_FRONT:start])
    parcels: list[tuple[str, Frame]] = []
    buffer = pa.py_buffer(blob)
    if head["file"]:
        buffer, start = mapped(head["file"]), 0
    for target, size in head["parcels"]:
        parcels.append((target, read_frame(buffer.slice(start, size))))
        start += size
    return Packet(
        tuple(head["origin"]),
        tuple(parcels),
        {(scan, partition): said for scan, partition, said in head["candidates"]},
        None if head["batch"] is None else Batch.from_json(head["batch"]),
        None if head["account"] is None else _account(head["account"]),
        None if head["staged"] is None else _staged(head["staged"]),
    )


def in_order(blobs: Iterable[bytes]) -> list[Packet]:
    """Read packets and put them in the order of their senders."""
    return ordered(decode(blob) for blob in blobs)


def ordered(packets: Iterable[Packet]) -> list[Packet]:
    """Put packets in the order of their senders."""
    return sorted(packets, key=lambda packet: packet.origin)


def batch_of(packets: Iterable[Packet]) -> Batch:
    """Give the batch that packets are of: one of them says it."""
    return next(packet.batch for packet in packets if packet.batch is not None)


def merged_candidates(packets: Iterable[Packet]) -> dict[Place, int | None]:
    """Give what each partition claims, whoever read which part of it."""
    merged: dict[Place, int | None] = {}
    for packet in packets:
        for place, said in packet.candidates.items():
            before = merged.get(place)
            merged[place] = (
                said if before is None else before if said is None else max(before, said)
            )
    return merged


def _account_json(account: Account) -> dict[str, Any]:
    return {
        "counts": {
            step: [c.taken, c.passed, c.filtered, c.late, c.dead, c.given, c.dropped_pairs]
            for step, c in account.counts.items()
        },
        "skew": {s: [k.rows, k.least, k.most, k.total] for s, k in account.skew.items()},
        "wake_at": account.wake_at,
        "state": account.state,
        "at": account.at,
        "notes": account.notes,
    }


def _account(found: Mapping[str, Any]) -> Account:
    return Account(
        {step: Counts(*numbers) for step, numbers in found["counts"].items()},
        {scan: Skew(*numbers) for scan, numbers in found["skew"].items()},
        found["wake_at"],
        tuple((operator, bucket, rows, size) for operator, bucket, rows, size in found["state"]),
        found["at"],
        tuple((operator, bucket, note) for operator, bucket, note in found["notes"]),
    )


def _staged_json(staged: Staged) -> dict[str, Any]:
    return {
        "owner": staged.owner,
        "task": staged.task,
        "file": staged.file,
        "pieces": [list(piece) for piece in staged.pieces],
    }


def _staged(found: Mapping[str, Any]) -> Staged:
    pieces = tuple(
        Piece(topic, partition, position, length, records, tuple(form), topic_id)
        for topic, partition, position, length, records, form, topic_id in found["pieces"]
    )
    return Staged(found["owner"], found["task"], found["file"], pieces)
