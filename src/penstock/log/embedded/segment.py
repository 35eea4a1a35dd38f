"""A segment: one file of frames, read in large pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import pyarrow as pa

from penstock.errors import CorruptionError
from penstock.log.embedded.frame import HEADER_SIZE, Frame, decode_header, payload_is_intact
from penstock.log.storage import File

PIECE = 1024 * 1024
_HEADERS_PIECE = 64 * 1024


class StoredFrame(NamedTuple):
    """A frame whose checksums held, and the buffer it lies in."""

    frame: Frame
    position: int
    buffer: pa.Buffer
    start: int


def read_frames(
    file: File,
    path: str,
    position: int,
    end: int,
    piece: int = PIECE,
    *,
    wanted: Callable[[Frame], bool] = lambda _: True,
) -> Iterator[StoredFrame]:
    """Give the frames between two positions with their payload; a flipped bit is named.

    A frame that is not wholly in what was read so far and is not wanted ends the reading:
    it is given without its payload, which was not fetched.
    """
    while position < end:
        size = min(piece, end - position)
        data = file.read_at(position, size)
        if len(data) < size:
            raise _corrupt(path, position + len(data), None)
        start = 0
        for stored in whole_frames(data, path, position):
            yield stored
            start = stored.start + stored.frame.length
        partial = decode_header(data, start)
        if partial is not None and not wanted(partial):
            yield StoredFrame(partial, position + start, pa.py_buffer(b""), 0)
            return
        if start == 0:
            piece = _larger_piece(memoryview(data), path, position, end)
        position += start


def whole_frames(data: bytes, path: str, position: int) -> Iterator[StoredFrame]:
    """Give the frames that lie wholly in bytes read from a position on."""
    view, buffer, start = memoryview(data), pa.py_buffer(data), 0
    while start + HEADER_SIZE <= len(data):
        frame = _header(view, start, path, position)
        stop = start + frame.length
        if stop > len(data):
            return
        if not payload_is_intact(frame, view[start + HEADER_SIZE : stop]):
            raise _corrupt(path, position + start, frame.base_offset)
        yield StoredFrame(frame, position + start, buffer, start)
        start = stop


def read_headers(file: File, path: str, position: int, end: int) -> Iterator[tuple[Frame, int]]:
    """Give the headers between two positions and where each begins, passing over payloads."""
    data, at = b"", position
    while position < end:
        if position + HEADER_SIZE > at + len(data):
            data, at = file.read_at(position, min(_HEADERS_PIECE, end - position)), position
        frame = _header(memoryview(data), position - at, path, at)
        yield frame, position
        position += frame.length


def last_intact_position(file: File, position: int, size: int, next_offset: int) -> int:
    """How far whole frames with consecutive offsets go, from a position on."""
    while position + HEADER_SIZE <= size:
        frame = decode_header(file.read_at(position, HEADER_SIZE))
        if frame is None or frame.base_offset != next_offset or position + frame.length > size:
            break
        stored = file.read_at(position + HEADER_SIZE, frame.length - HEADER_SIZE)
        if not payload_is_intact(frame, stored):
            break
        position += frame.length
        next_offset = frame.next_offset
    return position


def _header(view: memoryview, start: int, path: str, position: int) -> Frame:
    frame = decode_header(view, start)
    if frame is None:
        raise _corrupt(path, position + start, None)
    return frame


def _larger_piece(view: memoryview, path: str, position: int, end: int) -> int:
    if len(view) < HEADER_SIZE:
        raise _corrupt(path, position, None)
    frame = _header(view, 0, path, position)
    if position + frame.length > end:
        raise _corrupt(path, position, frame.base_offset)
    return max(frame.length, len(view))


def _corrupt(path: str, position: int, offset: int | None) -> CorruptionError:
    which = "" if offset is None else f", records from offset {offset} on"
    return CorruptionError(
        "FRAME_CORRUPT",
        f'the segment "{path}" fails its checksum at byte {position}{which}',
        hint="Restore the file from a copy, or see `penstock log verify` for what else is hurt.",
    )
