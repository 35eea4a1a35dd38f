"""How far a partition has been compacted; losing this file costs a repetition, never a record."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from penstock.log.embedded.sealed_json import seal, unseal
from penstock.log.storage import Storage

CLEANED_FILE = "cleaned"


@dataclass(frozen=True, slots=True)
class CleanedState:
    """Below `first_dirty` every key stands once; at `next_horizon` a tombstone may go."""

    first_dirty: int = 0
    next_horizon: int | None = None


def read_cleaned(storage: Storage, directory: str) -> CleanedState:
    """Give what the last pass left; where that is absent or torn, everything is dirty."""
    try:
        saved = unseal(storage.read(f"{directory}/{CLEANED_FILE}"))
    except FileNotFoundError:
        return CleanedState()
    return CleanedState() if saved is None else CleanedState(**saved)


def write_cleaned(storage: Storage, directory: str, state: CleanedState) -> None:
    """Replace what the last pass left."""
    storage.replace(f"{directory}/{CLEANED_FILE}", seal(asdict(state)))
