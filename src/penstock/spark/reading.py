"""Rows of several partitions on their way through the first chains of a program."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import polars as pl

from penstock.kernel.arrival import Skew
from penstock.kernel.decode import Opened
from penstock.kernel.parcel import NO_BUCKET, Parcel, after_target, origin_of
from penstock.kernel.port import Counts, Frame
from penstock.kernel.program import Program
from penstock.kernel.watermark import Place
from penstock.spark.batch import Batch
from penstock.spark.batch_time import time_before
from penstock.spark.packet import Account

# What is taken through the chains at once: large enough to fold well, small enough to hold.
PIECE_BYTES = 64 * 1024 * 1024


class Reading:
    """Hears each partition by itself, and folds the rows of all of them together."""

    def __init__(self, program: Program, batch: Batch) -> None:
        self._program = program
        self._batch = batch
        self._watermark = time_before(batch).watermark
        self._fused = program.physical.settings.fuse
        self._waiting: dict[str, list[Frame]] = defaultdict(list)
        self._parcels: list[Parcel] = []
        self._counts: dict[str, Counts] = {}
        self._skew: dict[str, Skew] = defaultdict(Skew)
        self.candidates: dict[Place, int | None] = {}

    def take(self, place: Place, opened: Opened) -> None:
        """Take rows of one partition of a scan, as the log has them."""
        scan = place[0]
        taken = self._program.take(
            scan,
            opened.rows,
            self._watermark,
            self._batch.clock,
            chains=False,
            unread=opened.unread,
        )
        said = (self.candidates.get(place), taken.candidate)
        self.candidates[place] = max((one for one in said if one is not None), default=None)
        self._skew[scan] += taken.skew
        self._count(taken.worked.counts)
        for parcel in taken.worked.parcels:
            if origin_of(parcel.target) is None:
                self._parcels.append(parcel)
            else:
                self._waiting[scan].append(parcel.frame)
        if sum(frame.estimated_size() for frame in self._waiting[scan]) >= PIECE_BYTES:
            self._follow(scan)

    def done(self) -> tuple[list[Parcel], Account]:
        """Give what is to be sent, and the account of it."""
        for scan in list(self._waiting):
            self._follow(scan)
        return self._parcels, Account(self._counts, dict(self._skew))

    def _follow(self, scan: str) -> None:
        frames = self._waiting.pop(scan, [])
        if not frames:
            return
        rows = pl.concat(frames, rechunk=False)
        if not self._fused:
            self._parcels.append(Parcel(after_target(scan), NO_BUCKET, rows))
            return
        worked = self._program.follow(scan, rows, self._watermark)
        self._parcels += worked.parcels
        self._count(worked.counts)

    def _count(self, counts: Mapping[str, Counts]) -> None:
        for step, found in counts.items():
            self._counts[step] = self._counts.get(step, Counts()) + found
