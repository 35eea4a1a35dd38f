"""A place in a topic as people write it: earliest, latest, an offset or a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.errors import UsageError
from penstock.text.times import parse_time

if TYPE_CHECKING:
    from penstock.log.position import Start


def parse_place(text: str) -> Start:
    """Read a place: all digits are an offset, anything but the two words a time."""
    if text == "earliest":
        return "earliest"
    if text == "latest":
        return "latest"
    if text.isascii() and text.isdigit():
        return int(text)
    try:
        return parse_time(text)
    except UsageError:
        raise UsageError(
            "PLACE_FORMAT",
            f'"{text}" is no place in a topic',
            hint="Write earliest, latest, an offset such as 42, or a time such as"
            " 2026-01-31T12:30:00Z.",
        ) from None
