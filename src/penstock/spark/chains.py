"""Chains as a stage of their own, where a program is not to have them fused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pyarrow as pa

from penstock.kernel.parcel import NO_BUCKET, Parcel, Worked, origin_of
from penstock.kernel.port import Counts
from penstock.spark.batch_time import time_before
from penstock.spark.dispatch import Dispatch, dispatch_of
from penstock.spark.packet import Account, decode, encoded
from penstock.spark.program_read import packet_rows


@dataclass(frozen=True, slots=True)
class Chains:
    """Takes rows that readers or operators gave through the chains after them."""

    program: str
    home: str
    staging: str
    frames: str = ""

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Take the packets of one task."""
        dispatch = dispatch_of(self.program, self.home, self.staging)
        for batch in batches:
            for slot, blob in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                yield packet_rows(_followed(dispatch, slot, blob, self.frames))


def _followed(dispatch: Dispatch, slot: int, blob: bytes, frames: str) -> list[tuple[int, bytes]]:
    if dispatch.slots.owner(slot) is not None:
        return [(slot, blob)]
    packet = decode(blob)
    if not any(origin_of(target) is not None for target, _ in packet.parcels):
        return [(slot, blob)]
    assert packet.batch is not None
    parcels: list[Parcel] = []
    account = packet.account or Account()
    for target, frame in packet.parcels:
        origin = origin_of(target)
        if origin is None:
            parcels.append(Parcel(target, NO_BUCKET, frame))
            continue
        worked = dispatch.program.follow(origin, frame, time_before(packet.batch).watermark)
        parcels += worked.parcels
        account = _with_counts(account, worked)
    # One more number, so that no two packets for a bucket have the same origin.
    sent = replace(packet, origin=(*packet.origin, 0), parcels=(), account=account)
    return encoded(dispatch.send(parcels, sent, packet.batch, lane=packet.origin[-1]), frames)


def _with_counts(account: Account, worked: Worked) -> Account:
    counts = dict(account.counts)
    for step, found in worked.counts.items():
        counts[step] = counts.get(step, Counts()) + found
    return replace(account, counts=counts)
