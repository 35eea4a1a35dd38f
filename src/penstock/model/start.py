"""Where the reading of a topic begins when a program is started for the first time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal, TypeAlias

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
Place: TypeAlias = Literal["beginning", "latest", "offset", "time"]


@dataclass(frozen=True, slots=True)
class Start:
    """At the first record, after the last one, at an offset, or at a time in milliseconds.

    `known` holds offsets of partitions by their number, where they were looked up before: they
    go before what is said for all.
    """

    place: Place = "beginning"
    value: int = 0
    known: tuple[tuple[int, int], ...] = ()


BEGINNING = Start()


def start_words(start: Start) -> str:
    """Say where reading begins."""
    match start.place:
        case "beginning":
            return "the first record"
        case "latest":
            known = ", ".join(f"{number}: {offset}" for number, offset in start.known)
            return f"the last record{f' as of offsets {known}' if known else ''}"
        case "offset":
            return f"offset {start.value}"
        case "time":
            moment = _EPOCH + timedelta(milliseconds=start.value)
            return f"the first record of {moment:%Y-%m-%dT%H:%M:%S}"
