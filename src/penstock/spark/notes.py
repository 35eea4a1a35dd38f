"""Which files hold the states of a job's buckets after each of its last batches.

A bucket gives its note to the sink with its rows, and the sink writes those of all buckets down
before anything of the batch is visible: what is remembered and what was given are of the same
attempt. The file is named after the offset where the batch ended. So the batch that begins there
finds it, however often it is run, and a batch that is planned anew finds the one before.
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

from penstock.errors import StateError
from penstock.spark.job_files import JobFiles, read_json, replace_json
from penstock.spark.program_offset import ProgramOffset

Notes: TypeAlias = Mapping[tuple[str, int], bytes]
"""The note of each bucket of each operator that remembers anything."""

# The last batches may be run again, even where they were done: see `spark.checkpoint_check`.
_KEPT = 4


def notes_file(files: JobFiles, at: ProgramOffset) -> Path:
    """Give the file of what is remembered after the batch that ended at an offset."""
    text = json.dumps(at.to_json(), sort_keys=True).encode()
    return files.notes / f"{hashlib.blake2b(text, digest_size=12).hexdigest()}.json"


def write_notes(path: Path, notes: Notes) -> None:
    """Store the notes of a batch; those that no batch can ask for any more are removed.

    As the files they lead to they outlive any process, and need not outlive a power cut.
    """
    states: dict[str, dict[str, str]] = {}
    for (operator, bucket), note in notes.items():
        states.setdefault(operator, {})[str(bucket)] = b64encode(note).decode()
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_json(path, {"states": states})
    _forget_old(path.parent)


def read_notes(path: Path) -> Notes:
    """Give the notes of a batch; without them nobody knows what the job remembers."""
    found = read_json(path)
    if found is None:
        raise StateError(
            "STATE_FILE",
            f'"{path}", which says what a job remembers, is missing',
            hint="Restore the whole checkpoint from a copy, or start again from the log.",
        )
    return {
        (operator, int(bucket)): b64decode(note)
        for operator, buckets in found["states"].items()
        for bucket, note in buckets.items()
    }


def known_notes(path: str) -> Notes:
    """Give the notes of a batch to a worker, whose buckets ask for the same ones."""
    try:
        found = Path(path).stat()
    except FileNotFoundError:
        return read_notes(Path(path))
    return _known(path, (found.st_mtime_ns, found.st_ino, found.st_size))


@lru_cache(maxsize=8)
def _known(path: str, _: tuple[int, int, int]) -> Notes:
    # A batch that is run again replaces its file.
    return read_notes(Path(path))


def gathered(told: Iterable[tuple[str, int, str]]) -> Notes:
    """Give the notes that buckets have told."""
    return {(operator, bucket): b64decode(note) for operator, bucket, note in told}


def _forget_old(folder: Path) -> None:
    found = sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
    for path in found[:-_KEPT]:
        path.unlink(missing_ok=True)
