"""Which start of the machine this is, so that a power cut is told from a killed process."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

UNKNOWN_BOOT = bytes(16)
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@cache
def this_boot() -> bytes:
    """Sixteen bytes that change with every start of the machine; zeros where it does not tell."""
    try:
        return hashlib.blake2b(_BOOT_ID.read_bytes(), digest_size=16).digest()
    except OSError:
        return UNKNOWN_BOOT
