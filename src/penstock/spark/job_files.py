"""What a running program keeps beside Spark's checkpoint: itself, and how far it has come."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crc32c import crc32c

from penstock.errors import StateError
from penstock.log.embedded.refusals import coded_storage_errors

CURRENT = "current.json"
_LEAD = "lead.json"
_SEAL = "crc32c"


@dataclass(frozen=True, slots=True)
class JobFiles:
    """The files of one generation of a checkpoint; rescaling begins a new one."""

    folder: Path

    @property
    def spark(self) -> Path:
        """Spark's own checkpoint."""
        return self.folder / "spark"

    @property
    def start(self) -> Path:
        """Where this generation began: see `spark.progress_file`."""
        return self.folder / "start.json"

    @property
    def progress(self) -> Path:
        """What the last batch left: see `spark.progress_file`."""
        return self.folder / "progress.json"

    @property
    def identity(self) -> Path:
        """What must not change while the generation lives."""
        return self.folder / "job.json"

    @property
    def memory(self) -> Path:
        """The files of large states; generations share it."""
        return self.folder.parent / "memory"

    @property
    def notes(self) -> Path:
        """Which files of states count after each of the last batches: see `spark.notes`."""
        return self.folder / "notes"

    @property
    def static(self) -> Path:
        """The tables that were read once; generations share it."""
        return self.folder.parent / "static"

    @property
    def inherited(self) -> Path:
        """The states this generation began with, where it continues another."""
        return self.folder / "inherited"

    @property
    def committed(self) -> int:
        """The last batch that Spark knows to be done; -1 before the first."""
        return _last_number(self.spark / "commits")

    @property
    def begun(self) -> int:
        """The last batch that Spark has begun; -1 before the first."""
        return _last_number(self.spark / "offsets")

    @property
    def program(self) -> Path | None:
        """The program that ran last."""
        return next(iter(sorted(self.folder.glob("program-*.pickle"))), None)


def leading_side(checkpoint: Path) -> Path:
    """Give the folder that counts: the checkpoint's own, or that of a standby that took over."""
    found = read_json(checkpoint / _LEAD)
    return checkpoint / str(found["side"]) if found is not None else checkpoint


def current_files(checkpoint: Path) -> JobFiles:
    """Give the files of the generation that a checkpoint is in."""
    return side_files(leading_side(checkpoint))


def side_files(side: Path) -> JobFiles:
    """Give the files of the generation that one side of a checkpoint is in."""
    return JobFiles(side.absolute() / str(_generation(side)))


def next_files(checkpoint: Path) -> JobFiles:
    """Give the files of the generation after this one, empty; `switch` makes it the current."""
    return next_side_files(leading_side(checkpoint))


def next_side_files(side: Path) -> JobFiles:
    """Give the files of the generation after all there are of a side, empty."""
    # Not after the current one: which that is cannot be known where its file is damaged.
    return JobFiles(side.absolute() / str(max(_last_number(side), 0) + 1))


def switch(checkpoint: Path, files: JobFiles) -> None:
    """Make a generation the current one, at one instant, and forget the one before."""
    switch_side(leading_side(checkpoint), files)


def switch_side(side: Path, files: JobFiles) -> None:
    """Make a generation the current one of a side, and forget those before."""
    write_json(side / CURRENT, {"generation": int(files.folder.name)})
    forget_others(files)


def forget_others(files: JobFiles) -> None:
    """Remove all generations of a side but one."""
    for folder in files.folder.parent.glob("[0-9]*"):
        if folder.name.isdigit() and folder.name != files.folder.name:
            shutil.rmtree(folder, ignore_errors=True)


def _generation(checkpoint: Path) -> int:
    found = read_json(checkpoint / CURRENT)
    return 0 if found is None else int(found["generation"])


def _last_number(folder: Path) -> int:
    try:
        return max((int(file.name) for file in folder.iterdir() if file.name.isdigit()), default=-1)
    except FileNotFoundError:
        return -1


def read_json(path: Path) -> Mapping[str, Any] | None:
    """Give what a file of a job says; none where it does not exist, one that is damaged refused."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise _broken(path, str(error)) from error
    if not isinstance(found, dict):
        raise _broken(path, "no object of JSON")
    # Files of earlier releases have none.
    sealed = found.pop(_SEAL, None)
    if sealed is not None and sealed != _seal(found):
        raise _broken(path, "its checksum differs")
    return found


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Replace a file at one instant, with a checksum; when this returns it is on disk."""
    write_durably(path, _sealed(value))


def replace_json(path: Path, value: Mapping[str, Any]) -> None:
    """Replace a file at one instant, with a checksum, for all processes that live or will."""
    with coded_storage_errors(f'writing "{path}"'):
        fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
        fresh.write_bytes(_sealed(value))
        fresh.replace(path)


def _sealed(value: Mapping[str, Any]) -> bytes:
    # As it will be read: keys as texts, pairs as lists.
    plain = json.loads(json.dumps(value))
    return json.dumps({**plain, _SEAL: _seal(plain)}).encode()


def _seal(value: Mapping[str, Any]) -> str:
    return f"{crc32c(json.dumps(value).encode()):08x}"


def _broken(path: Path, why: str) -> StateError:
    return StateError(
        "JOB_FILE_BROKEN",
        f'"{path}" is not what a job wrote: {why}',
        hint="Restore the job from a savepoint, rewind it, or give it a new checkpoint.",
    )


def write_durably(path: Path, content: bytes) -> None:
    """Replace a file at one instant; when this returns it is on disk."""
    with coded_storage_errors(f'writing "{path}"'):
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
        try:
            _written(fresh, content)
        except OSError:
            # What a full disk has of it is room for others.
            fresh.unlink(missing_ok=True)
            raise
        fresh.replace(path)
        directory = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)


def _written(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
