"""The savepoints of a job that are kept in its home."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from penstock.jobs.definition import Event
from penstock.spark.savepoint_files import MANIFEST, read_manifest

FOLDER = "savepoints"


@dataclass(frozen=True, slots=True)
class KeptSavepoint:
    """A savepoint by the name of its folder; `made` is in milliseconds since 1970."""

    folder: str
    made: int
    bytes: int


def savepoint_place(home: Path, name: str) -> Path:
    """Give where a home keeps a savepoint."""
    return home / FOLDER / name


def savepoint_names(home: Path, job: str, history: Iterable[Event]) -> tuple[str, ...]:
    """Give the names of those of a job, the latest first: as its history says, or its name."""
    said = {Path(item.detail) for item in history if item.what == "saved"}
    place = (home / FOLDER).absolute()
    try:
        found = [item for item in place.iterdir() if (item / MANIFEST).is_file()]
    except (FileNotFoundError, NotADirectoryError):
        return ()
    own = [item for item in found if item in said or item.name.rpartition("-")[0] == job]
    own.sort(key=lambda item: ((item / MANIFEST).stat().st_mtime_ns, item.name), reverse=True)
    return tuple(item.name for item in own)


def kept_savepoint(home: Path, name: str) -> KeptSavepoint:
    """Give what a savepoint says of itself."""
    said = read_manifest(savepoint_place(home, name))
    return KeptSavepoint(name, said["made"], sum(size for size, _ in said["files"].values()))
