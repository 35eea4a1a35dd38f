"""What was followed and is gone: told, never passed over."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from penstock.errors import OffsetError
from penstock.log.port import Log
from penstock.log.record import TopicPartition
from penstock.serve.push.arrival import Piece
from penstock.serve.push.token import Positions


def standing(
    log: Log, places: Sequence[TopicPartition], positions: Positions
) -> tuple[Positions, tuple[OffsetError, ...]]:
    """Give positions that the log has, and what of those before was lost."""
    found: list[int] = []
    lost: list[OffsetError] = []
    for place, offset in zip(places, positions, strict=True):
        start, end = log.bounds(*place)
        if offset > end:
            lost.append(cut(place, end))
        elif offset < start:
            lost.append(gone(place, offset, start))
        found.append(min(max(offset, start), end))
    return tuple(found), tuple(lost)


def read_or_lost(log: Log, place: TopicPartition, offset: int, read: Callable[[], Piece]) -> Piece:
    """Read; where an offset is gone, say so and go on behind it."""
    try:
        return read()
    except OffsetError as error:
        if error.code != "OFFSET_RANGE":
            raise
    start, end = log.bounds(*place)
    if offset < start:
        return Piece((), start, gone(place, offset, start))
    return Piece((), offset, cut(place, end)) if offset > end else read()


def gone(place: TopicPartition, offset: int, start: int) -> OffsetError:
    """Say that retention was faster."""
    return OffsetError(
        "LIVE_GAP",
        f"records {offset} to {start - 1} of {place} are no longer there",
        hint="What follows begins behind them; read what is left, or keep records for longer.",
    )


def cut(place: TopicPartition, end: int) -> OffsetError:
    """Say that a partition ends before where somebody was."""
    return OffsetError(
        "LIVE_CUT",
        f"{place} ends at {end}, before what was already given",
        hint="The log has lost its end, in a crash of the machine; what follows may be repeated.",
    )


def made_anew(name: str) -> OffsetError:
    """Say that a token is of something else."""
    return OffsetError(
        "LIVE_ANEW",
        f'the token is of another "{name}" than the one there is now',
        hint="What follows begins with all that there is.",
    )


def restarted() -> OffsetError:
    """Say that the answers of a statement that remembers cannot be had again."""
    return OffsetError(
        "LIVE_RESTARTED",
        "the statement remembers rows, so what it answered meanwhile cannot be given again",
        hint="A table's rows come as a snapshot; of a stream go on with what comes.",
    )
