"""Offsets as people write them: `3,10-19,40-`."""

from __future__ import annotations

import re
from collections.abc import Callable

from penstock.errors import UsageError

_RANGE = re.compile(r"(?P<first>\d+)(?P<span>-(?P<last>\d*))?")


def parse_offsets(text: str) -> Callable[[int], bool]:
    """Give what says whether an offset is among those written; both ends of a range are."""
    ranges: list[tuple[int, float]] = []
    for word in text.replace(" ", "").split(","):
        found = _RANGE.fullmatch(word)
        if found is None:
            raise UsageError(
                "OFFSETS_FORMAT",
                f'"{text}" are no offsets',
                hint="Write numbers and ranges with commas between: 3,10-19,40-.",
            )
        first = int(found["first"])
        last = first if found["span"] is None else int(found["last"]) if found["last"] else None
        ranges.append((first, float("inf") if last is None else last))
    return lambda offset: any(first <= offset <= last for first, last in ranges)
