"""Sizes in bytes as people write them: 64MiB, 1GB."""

from __future__ import annotations

import re
from fractions import Fraction

from penstock.errors import UsageError

_BINARY = ("B", "KiB", "MiB", "GiB", "TiB")
_STEP = 1024
_UNITS = {
    "": 1, "b": 1,
    "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40,
    "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12,
}  # fmt: skip
_SIZE = re.compile(r"(\d+(?:\.\d+)?)([a-z]*)")


def parse_size(text: str) -> int:
    """Read a number of bytes such as 64MiB, 1GB or 1048576."""
    found = _SIZE.fullmatch(text.replace(" ", "").lower())
    if found is None or found[2] not in _UNITS:
        raise UsageError(
            "SIZE_FORMAT",
            f'size "{text}" is not a number of bytes',
            hint="Write it as 1048576, 512KiB, 64MiB or 1GB.",
        )
    return int(Fraction(found[1]) * _UNITS[found[2]])


def size_text(count: int) -> str:
    """Write a number of bytes as a person reads it, rounded to one decimal."""
    power = 0
    while count >= _STEP ** (power + 1) and power < len(_BINARY) - 1:
        power += 1
    return f"{round(count / _STEP**power, 1):g} {_BINARY[power]}"


def exact_size_text(count: int) -> str:
    """Write a number of bytes so that `parse_size` gives the same one."""
    for power in range(len(_BINARY) - 1, 0, -1):
        if count and count % _STEP**power == 0:
            return f"{count // _STEP**power}{_BINARY[power]}"
    return f"{count}"
