"""A savepoint as a folder: the states of a stopped program, its place, itself, with checksums.

savepoint.json   what it is, and size and checksum of every other file
program.pickle   the program
states/          one file a bucket of an operator, each a whole state (`kernel.codec`)
static/          tables that the program has read once
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from crc32c import crc32c

from penstock.errors import StateError, UsageError
from penstock.spark.job_files import read_json, write_json

LAYOUT = 1
MANIFEST = "savepoint.json"
PROGRAM = "program.pickle"
STATES = "states"
STATIC = "static"
_NEW = ".new"


def state_file(folder: Path, operator: str, bucket: int) -> Path:
    """Give the file of one bucket."""
    return folder / operator / f"{bucket}.state"


def saved_state(folder: Path, operator: str, bucket: int) -> bytes | None:
    """Give the state of one bucket; none where it held nothing."""
    try:
        return state_file(folder, operator, bucket).read_bytes()
    except FileNotFoundError:
        return None


@contextmanager
def complete_or_absent(folder: Path) -> Iterator[Path]:
    """Give a folder to write into, which gets its name when all of it is on disk."""
    if folder.exists():
        raise UsageError(
            "SAVEPOINT_EXISTS",
            f'"{folder}" exists already',
            hint="Give the savepoint a folder of its own that does not exist yet.",
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    for left in folder.parent.glob(f".{folder.name}.*{_NEW}"):
        shutil.rmtree(left, ignore_errors=True)
    fresh = folder.with_name(f".{folder.name}.{uuid4().hex}{_NEW}")
    fresh.mkdir()
    try:
        yield fresh
        for inner in (fresh, *(path for path in fresh.rglob("*") if path.is_dir())):
            _sync(inner)
        fresh.rename(folder)
        _sync(folder.parent)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise


def write_manifest(folder: Path, said: Mapping[str, Any]) -> None:
    """Write down what a savepoint is, with the checksums of all that is in its folder."""
    files = {
        str(path.relative_to(folder)): [path.stat().st_size, _checksum(path)]
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    write_json(folder / MANIFEST, {"layout": LAYOUT, **said, "files": files})


def read_manifest(folder: Path) -> Mapping[str, Any]:
    """Give what a savepoint says of itself; a damaged one, or a later release's, is refused."""
    found = read_json(folder / MANIFEST)
    if found is None:
        raise StateError(
            "SAVEPOINT_MISSING",
            f'there is no savepoint in "{folder}"',
            hint=f"Give the folder that holds {MANIFEST}.",
        )
    if found["layout"] > LAYOUT:
        raise StateError(
            "SAVEPOINT_LATER",
            f'savepoint "{folder}" has layout {found["layout"]}, and this release knows up to'
            f" {LAYOUT}",
            hint="Use the release of Penstock that wrote it, or a later one.",
        )
    return found


def require_whole(folder: Path, files: Mapping[str, Any]) -> None:
    """Refuse a savepoint of which a file is missing or is not what was written."""
    for name, (size, checksum) in files.items():
        path = folder / name
        if not path.is_file():
            raise _damaged(path, "is missing")
        if path.stat().st_size != size or _checksum(path) != checksum:
            raise _damaged(path, "is not what was written")


def _damaged(path: Path, what: str) -> StateError:
    return StateError(
        "SAVEPOINT_DAMAGED",
        f'"{path}" of a savepoint {what}',
        hint="Use another savepoint, or a copy of this one.",
    )


def _checksum(path: Path) -> str:
    checksum = 0
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            checksum = crc32c(piece, checksum)
    return f"{checksum:08x}"


def _sync(folder: Path) -> None:
    directory = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
