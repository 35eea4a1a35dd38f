"""A segment: one file of frames, read in large pieces."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import NamedTuple

import pyarrow as pa

from penstock.errors import CorruptionError
from penstock.log.embedded.frame import HEADER_SIZE, Frame, decode_header, payload_is_intact
from penstock.log.storage import File

PIECE = 512 * 1024
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
    size, partial = piece, None
    while position < end:
        size = min(size, end - position)
        data = file.read_at(position, size)
        if len(data) < size:
            raise _corrupt(path, position + len(data), None)
        start, partial = yield from whole_frames(data, path, position, partial)
        position += start
        if partial is None:
            size = piece
            continue
        if not wanted(partial):
            yield StoredFrame(partial, position, pa.py_buffer(b""), 0)
            return
        if position + partial.length > end:
            raise _corrupt(path, position, partial.base_offset)
        # A large frame is read by itself, with the header of the one after it: nothing is read
        # twice, and its checksum is computed while it is still in the processor's cache.
        size = max(piece, partial.length + HEADER_SIZE)


def whole_frames(
    data: bytes, path: str, position: int, first: Frame | None = None
) -> Generator[StoredFrame, None, tuple[int, Frame | None]]:
    """Give the frames that lie wholly in bytes read from a position on.

    Returns where they end, and the header of the frame that begins there, if it is in the
    bytes. `first` is the header at the beginning, where it is known already.
    """
    view, buffer, start = memoryview(data), pa.py_buffer(data), 0
    frame = first
    while start + HEADER_SIZE <= len(data):
        if frame is None:
            frame = _header(view, start, path, position)
        stop = start + frame.length
        if stop > len(data):
            return start, frame
        if not payload_is_intact(frame, view[start + HEADER_SIZE : stop]):
            raise _corrupt(path, position + start, frame.base_offset)
        yield StoredFrame(frame, position + start, buffer, start)
        start, frame = stop, None
    if start == 0:
        raise _corrupt(path, position, None)
    return start, None


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


def _corrupt(path: str, position: int, offset: int | None) -> CorruptionError:
    which = "" if offset is None else f", records from offset {offset} on"
    return CorruptionError(
        "FRAME_CORRUPT",
        f'the segment "{path}" fails its checksum at byte {position}{which}',
        hint="Restore the file from a copy, or see `penstock log verify` for what else is hurt.",
    )
