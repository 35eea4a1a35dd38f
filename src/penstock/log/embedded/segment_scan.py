"""Reading a segment that may be hurt: every frame that is intact, and every place that is not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from penstock.log.embedded.frame import (
    ALIGNMENT,
    HEADER_SIZE,
    MAGIC,
    Frame,
    decode_header,
    payload_is_intact,
)
from penstock.log.storage import File

_PIECE = 1024 * 1024


class Scanned(NamedTuple):
    """An intact frame, or, where there is none, a stretch of bytes that fails its checksum."""

    position: int
    end: int
    frame: Frame | None
    what: str = ""


def scan_segment(file: File, end: int) -> Iterator[Scanned]:
    """Give the whole segment in order, frames and hurt stretches, up to a position."""
    position = 0
    while position < end:
        frame = decode_header(file.read_at(position, min(HEADER_SIZE, end - position)))
        if frame is None:
            following = _next_header(file, position + ALIGNMENT, end)
            yield Scanned(position, following, None, "a frame's header fails its checksum")
            position = following
            continue
        stop = position + frame.length
        stored = file.read_at(position + HEADER_SIZE, frame.length - HEADER_SIZE)
        if stop <= end and payload_is_intact(frame, stored):
            yield Scanned(position, stop, frame)
        else:
            what = f"the rows from offset {frame.base_offset} on fail their checksum"
            yield Scanned(position, min(stop, end), None, what)
        position = min(stop, end)


def _next_header(file: File, position: int, end: int) -> int:
    """The position of the next intact header; frames begin at multiples of their alignment."""
    while position < end:
        piece = file.read_at(position, min(_PIECE + HEADER_SIZE, end - position))
        at = piece.find(MAGIC)
        while 0 <= at < _PIECE:
            if at % ALIGNMENT == 0 and decode_header(piece, at) is not None:
                return position + at
            at = piece.find(MAGIC, at + 1)
        position += _PIECE
    return end
