"""What moves a job to another place or another number of tasks, or keeps what it knows.

A job that runs is quiet meanwhile, and goes on by itself afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from penstock.clock import SYSTEM_CLOCK
from penstock.errors import JobError
from penstock.jobs.control import event, require_name
from penstock.jobs.definition import Definition
from penstock.jobs.definitions import definition_store
from penstock.jobs.kept_savepoints import savepoint_place
from penstock.jobs.named import Named, hushed, named
from penstock.jobs.submit import Submission, job_program, submit
from penstock.jobs.upgrade_file import read_upgrade
from penstock.spark.job_files import current_files
from penstock.spark.rescale import Rescaled
from penstock.spark.rescale import rescale as rescale_checkpoint
from penstock.spark.rewind import Rewound, To
from penstock.spark.rewind import rewind as rewind_checkpoint
from penstock.spark.savepoint import Restored, Savepoint, save
from penstock.spark.savepoint import restore as restore_checkpoint
from penstock.spark.stored_program import load_program
from penstock.spark.stored_states import require_program

_PATIENCE = 60.0


def rewind(
    home: Path, text: str, to: To, *, drop_results: bool = False, seconds: float = _PATIENCE
) -> Rewound:
    """Let a job begin anew at a place of its input, with nothing that it remembers."""
    found = named(home, text)
    with _alone(home, found, seconds):
        done = rewind_checkpoint(home, found.checkpoint, to, drop_results=drop_results)
        told = to.isoformat() if isinstance(to, datetime) else str(to)
        _tell(home, found, "rewound", f"to {told}")
    return done


def rescale(home: Path, text: str, parallelism: int, *, seconds: float = _PATIENCE) -> Rescaled:
    """Let a job go on with so many tasks at a time; it keeps its state and its place."""
    found = named(home, text)
    with _alone(home, found, seconds):
        done = rescale_checkpoint(home, found.checkpoint, parallelism)
        _tell(home, found, "rescaled", f"from {done.before} to {done.after}")
    return done


def savepoint(
    home: Path, text: str, folder: Path | None = None, *, seconds: float = _PATIENCE
) -> Savepoint:
    """Write all that a job knows into a new folder, by default below the home."""
    found = named(home, text)
    with hushed(home, found, seconds):
        done = save(home, found.checkpoint, folder or new_folder(home, found.name))
        if found.definition is not None:
            definition_store(home).tell(found.name, event("saved", str(done.folder)))
    return done


def restore(
    home: Path,
    text: str,
    folder: Path,
    *,
    parallelism: int | None = None,
    seconds: float = _PATIENCE,
) -> Restored:
    """Let a job go on with what a savepoint knows; a job that is no more is made again."""
    definition = definition_store(home).find(text)
    if definition is None:
        return _restore_new(home, text, folder, parallelism)
    found = named(home, text)
    with _alone(home, found, seconds):
        done = restore_checkpoint(
            folder,
            found.checkpoint,
            home=home,
            physical=job_program(home, definition),
            parallelism=parallelism,
        )
        _tell(home, found, "restored", str(folder))
    return done


def new_folder(home: Path, name: str) -> Path:
    """Give the place of a savepoint that is made now."""
    moment = datetime.fromtimestamp(SYSTEM_CLOCK.now() / 1000).astimezone()
    return savepoint_place(home, f"{name}-{re.sub('[^0-9]', '', moment.isoformat()[:23])}")


@contextmanager
def _alone(home: Path, found: Named, seconds: float) -> Iterator[None]:
    """Keep a job quiet for what a new version that is being built must not miss."""
    with hushed(home, found, seconds):
        if found.definition is not None and read_upgrade(home, found.name) is not None:
            raise JobError(
                "UPGRADE_BUSY",
                f'a new version of job "{found.name}" is being built',
                hint="Let `penstock apply` finish it, or undo it, first.",
            )
        yield


def _restore_new(home: Path, text: str, folder: Path, parallelism: int | None) -> Restored:
    """Make a job of the program that a savepoint holds."""
    name = require_name(text)
    checkpoint = home / "jobs" / name
    with hushed(home, Named(name, str(checkpoint), None, ()), _PATIENCE):
        done = restore_checkpoint(folder, checkpoint, home=home, parallelism=parallelism)
        program = load_program(str(require_program(current_files(checkpoint)))).physical
        submit(home, program, Submission(name=name, source=f"savepoint {folder}"))
    return done


def _tell(home: Path, found: Named, what: str, detail: str) -> None:
    """Write down what was done to a job; a host that has given it up tries it again then."""
    if found.definition is not None:
        definition_store(home).change(found.name, event(what, detail), _same)


def _same(definition: Definition) -> Definition:
    return definition
