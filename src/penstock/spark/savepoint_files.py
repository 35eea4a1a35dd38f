"""The states of a stopped program as files: one a bucket of an operator."""

from __future__ import annotations

from pathlib import Path


def state_file(folder: Path, operator: str, bucket: int) -> Path:
    """Give the file of one bucket."""
    return folder / operator / f"{bucket}.state"


def saved_state(folder: Path, operator: str, bucket: int) -> bytes | None:
    """Give the state of one bucket; none where it held nothing."""
    try:
        return state_file(folder, operator, bucket).read_bytes()
    except FileNotFoundError:
        return None
