"""What a running program keeps beside Spark's checkpoint: itself, and how far it has come."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.errors import StateError

_CURRENT = "current.json"


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


def current_files(checkpoint: Path) -> JobFiles:
    """Give the files of the generation that a checkpoint is in."""
    return JobFiles(checkpoint.absolute() / str(_generation(checkpoint)))


def next_files(checkpoint: Path) -> JobFiles:
    """Give the files of the generation after this one, empty; `switch` makes it the current."""
    files = JobFiles(checkpoint.absolute() / str(_generation(checkpoint) + 1))
    shutil.rmtree(files.folder, ignore_errors=True)
    return files


def switch(checkpoint: Path, files: JobFiles) -> None:
    """Make a generation the current one, at one instant, and forget the one before."""
    old = current_files(checkpoint)
    write_json(checkpoint / _CURRENT, {"generation": int(files.folder.name)})
    shutil.rmtree(old.folder, ignore_errors=True)


def _generation(checkpoint: Path) -> int:
    found = read_json(checkpoint / _CURRENT)
    return 0 if found is None else int(found["generation"])


def _last_number(folder: Path) -> int:
    try:
        return max((int(file.name) for file in folder.iterdir() if file.name.isdigit()), default=-1)
    except FileNotFoundError:
        return -1


def read_json(path: Path) -> Mapping[str, Any] | None:
    """Give what a file of a job says; none where it does not exist."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise StateError(
            "JOB_FILE_BROKEN",
            f'"{path}" is not what a job wrote: {error}',
            hint="Start from a savepoint, or with a new checkpoint.",
        ) from error
    if not isinstance(found, dict):
        raise StateError(
            "JOB_FILE_BROKEN",
            f'"{path}" is not what a job wrote',
            hint="Start from a savepoint, or with a new checkpoint.",
        )
    return found


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Replace a file at one instant; when this returns it is on disk."""
    write_durably(path, json.dumps(value).encode())


def write_durably(path: Path, content: bytes) -> None:
    """Replace a file at one instant; when this returns it is on disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    with fresh.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
