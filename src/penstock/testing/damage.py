"""Damage to files at rest, as a failing disk or an interrupted copy does it."""

from __future__ import annotations

import os
from pathlib import Path


def flip_bit(path: Path, *, position: int, bit: int = 0) -> None:
    """Turn one bit of a file round; doing it twice restores the file."""
    with path.open("r+b") as file:
        file.seek(position)
        (byte,) = file.read(1)
        file.seek(position)
        file.write(bytes([byte ^ (1 << bit)]))


def truncate_file(path: Path, *, size: int) -> None:
    """Cut a file to its first `size` bytes, as a write torn by a power cut leaves it."""
    os.truncate(path, size)
