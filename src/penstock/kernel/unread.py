"""Records whose values could not be read: what becomes of them is the stream's to say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from penstock.errors import RunError
from penstock.kernel.letter import whole_letters
from penstock.kernel.port import Counts, Frame
from penstock.log.record import (
    HEADERS_COLUMN,
    KEY_COLUMN,
    OFFSET_COLUMN,
    TIMESTAMP_COLUMN,
    VALUE_COLUMN,
)
from penstock.model.source import Stream

RECORD_COLUMNS = (OFFSET_COLUMN, TIMESTAMP_COLUMN, KEY_COLUMN, HEADERS_COLUMN, VALUE_COLUMN)
"""What the log has of a record of bytes."""


@dataclass(frozen=True, slots=True)
class Unread:
    """Records put aside, as dead letters, and how many were passed over."""

    letters: Frame | None = None
    skipped: int = 0

    @property
    def counts(self) -> Counts:
        """Give what the accounting of the reader is to have of them."""
        dead = 0 if self.letters is None else self.letters.height
        return Counts(taken=dead + self.skipped, filtered=self.skipped, dead=dead)


ALL_READ = Unread()


def unread(stream: Stream, partition: int, records: Frame, failures: Mapping[int, str]) -> Unread:
    """Do as the stream says with the records at some places of a frame of `RECORD_COLUMNS`."""
    if not failures:
        return ALL_READ
    places = sorted(failures)
    if stream.on_error == "skip":
        return Unread(skipped=len(places))
    failed = records[places]
    reasons = [failures[place] for place in places]
    if stream.on_error == "fail":
        raise _failed(stream, partition, failed[OFFSET_COLUMN][0], reasons[0])
    told = failed.select(
        pl.lit(stream.topic).alias("step"),
        pl.lit(stream.site).alias("site"),
        pl.Series("error", [f"[VALUE_UNREADABLE] {reason}" for reason in reasons], pl.String),
        pl.col(TIMESTAMP_COLUMN).cast(pl.Int64).alias("time"),
        pl.lit(stream.topic).alias("topic"),
        pl.lit(partition).alias("partition"),
        pl.col(OFFSET_COLUMN).alias("offset"),
        pl.col(TIMESTAMP_COLUMN).cast(pl.Int64).alias("timestamp"),
        pl.col(KEY_COLUMN).alias("key"),
        pl.col(HEADERS_COLUMN).alias("headers"),
        pl.col(VALUE_COLUMN).alias("raw"),
    )
    return Unread(whole_letters(told))


def _failed(stream: Stream, partition: int, offset: int, reason: str) -> RunError:
    return RunError(
        "VALUE_UNREADABLE",
        f'the value at offset {offset} of partition "{stream.topic}-{partition}" cannot be read'
        f" as {stream.format}: {reason} ({stream.site})",
        hint="Correct the format and run again, which goes on from here; or read the stream with"
        ' on_error="dead_letter".',
    )
