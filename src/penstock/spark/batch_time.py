"""The watermarks of a batch: read from its description, and advanced by its rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from penstock.kernel.port import END_OF_TIME, START_OF_TIME, Time
from penstock.kernel.watermark import Mark, Place, Watermarks, advance
from penstock.model.physical import Scan
from penstock.spark.batch import Batch


def time_before(batch: Batch) -> Time:
    """Give both clocks as the batch before left them."""
    return Time(_reached(batch.marks), batch.clock_before)


def watermarks_after(
    batch: Batch, scans: tuple[Scan, ...], candidates: Mapping[Place, int | None]
) -> Watermarks:
    """Give the watermarks that the rows of a batch lead to."""
    found = advance(watermarks_of(batch.marks, scans), candidates, batch.clock)
    if not batch.ends:
        return found
    ended = {place: replace(mark, watermark=END_OF_TIME) for place, mark in found.marks.items()}
    return replace(found, marks=ended, reached=END_OF_TIME)


def marks_json(watermarks: Watermarks) -> dict[str, Any]:
    """Give watermarks as JSON has them; `watermarks_of` reads it."""
    return {
        "reached": watermarks.reached,
        "started_at": watermarks.started_at,
        "marks": [
            (*place, mark.watermark, mark.active_at, mark.since)
            for place, mark in sorted(watermarks.marks.items())
        ],
    }


def watermarks_of(found: Mapping[str, Any], scans: tuple[Scan, ...]) -> Watermarks:
    """Read what `marks_json` wrote; the idle timeouts are those of the program of now."""
    started = Watermarks.start(scans, found["started_at"])
    marks = {
        (scan, partition): Mark(watermark, active_at, since)
        for scan, partition, watermark, active_at, since in found["marks"]
        if scan in started.idle
    }
    return replace(started, marks=marks, reached=_reached(found))


def _reached(marks: Mapping[str, Any]) -> int:
    return START_OF_TIME if marks["reached"] is None else int(marks["reached"])
