"""A stopped job as a folder that outlives its checkpoint, and a job begun from such a folder."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any

from pyspark.sql import SparkSession

from penstock.clock import SYSTEM_CLOCK
from penstock.model.physical import Physical
from penstock.model.static_table import StaticTable
from penstock.spark.identity import new_identity
from penstock.spark.job_files import JobFiles, next_files, write_durably
from penstock.spark.program_format import ProgramFormat
from penstock.spark.progress_file import Start, start_document, start_of
from penstock.spark.rescale import require_parallelism
from penstock.spark.restored_place import restored_place
from penstock.spark.savepoint_files import (
    PROGRAM,
    STATES,
    STATIC,
    complete_or_absent,
    read_manifest,
    require_whole,
    saved_state,
    state_file,
    write_manifest,
)
from penstock.spark.state_files import whole_note, whole_state
from penstock.spark.state_forms import Forms, state_forms
from penstock.spark.state_mapping import Mapped, Wanted, mapped_states
from penstock.spark.static_tables import with_tables
from penstock.spark.stored_program import program_bytes, program_of, stored_bytes
from penstock.spark.stored_states import require_program, stored_states
from penstock.spark.transfer import Entry, Note, Stopped, begun_anew, enter, stopped


@dataclass(frozen=True, slots=True)
class Savepoint:
    """What a job knew when it was saved, and where that lies; `made` is milliseconds since 1970."""

    folder: Path
    made: int
    job: str
    buckets: int
    parallelism: int
    forms: Forms
    """The operators whose states it holds, and how these look."""
    start: Start
    """Where it goes on."""
    files: Mapping[str, Any]

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(size for size, _ in self.files.values())


@dataclass(frozen=True, slots=True)
class Restored:
    """What became of the states of a savepoint, and how long that took."""

    checkpoint: Path
    states: Mapped
    milliseconds: int


def save(
    home: str | Path,
    checkpoint: str | Path,
    folder: str | Path,
    *,
    session: SparkSession | None = None,
) -> Savepoint:
    """Write all that a stopped job knows into a new folder, which is complete or absent."""
    target = Path(folder).absolute()
    with complete_or_absent(target) as fresh:
        job = stopped(home, checkpoint, session)
        for operator, bucket, note in stored_states(session, job.files, job.identity):
            whole = whole_state(job.files.memory / operator / str(bucket), note)
            write_durably(state_file(fresh / STATES, operator, bucket), whole)
        program = stored_bytes(require_program(job.files))
        write_durably(fresh / PROGRAM, program)
        if job.files.static.exists():
            shutil.copytree(job.files.static, fresh / STATIC)
        write_manifest(fresh, _said(job, program))
    return read_savepoint(target)


def read_savepoint(folder: str | Path) -> Savepoint:
    """Give what a savepoint says of itself."""
    place = Path(folder).absolute()
    found = read_manifest(place)
    return Savepoint(
        place,
        found["made"],
        found["job"],
        found["buckets"],
        found["parallelism"],
        found["forms"],
        start_of(found["start"]),
        found["files"],
    )


def restore(  # noqa: PLR0913  # all but the two places are by name
    folder: str | Path,
    checkpoint: str | Path,
    *,
    home: str | Path,
    physical: Physical | None = None,
    operators: Wanted | None = None,
    parallelism: int | None = None,
    empty_ok: bool = False,
    session: SparkSession | None = None,  # noqa: ARG001  # nothing of it needs Spark
) -> Restored:
    """Begin a generation of a checkpoint, or a new checkpoint, with the states of a savepoint.

    Another program takes over the states of operators with the same id and kind, or those that
    `operators` names by its own ids. What no operator takes is dropped; one that finds nothing
    begins empty if `empty_ok` says so, or `operators` says none for it.
    """
    begun = monotonic()
    saved = read_savepoint(folder)
    require_whole(saved.folder, saved.files)
    place = Path(checkpoint)
    files = next_files(place)
    program = _program(saved, files) if physical is None else physical
    said = saved.parallelism if physical is None else physical.settings.parallelism
    tasks = said if parallelism is None else parallelism
    require_parallelism(tasks)
    mapped = mapped_states(saved.forms, program, operators or {}, empty_ok=empty_ok)
    at = restored_place(saved.start, mapped, program, ProgramFormat.log_of(str(home)))
    _copy_static(saved, files)
    identity = replace(
        new_identity(program), buckets=saved.buckets, parallelism=tasks, stored=mapped.stored
    )
    entry = Entry(identity, at, program_bytes(identity.applied(program)), _notes(saved, mapped))
    enter(place, entry)
    return Restored(place, mapped, round(1000 * (monotonic() - begun)))


def savepoints(folder: str | Path) -> list[Savepoint]:
    """Give the savepoints that lie in a folder, the oldest first."""
    found = (read_savepoint(path.parent) for path in Path(folder).glob("*/savepoint.json"))
    return sorted(found, key=lambda savepoint: (savepoint.made, savepoint.folder.name))


def keep_savepoints(folder: str | Path, most: int) -> list[Path]:
    """Remove the oldest savepoints of a folder, so that so many are left; give those removed."""
    old = [savepoint.folder for savepoint in savepoints(folder)][: -most or None]
    for path in old:
        shutil.rmtree(path)
    return old


def _said(job: Stopped, program: bytes) -> dict[str, Any]:
    forms = job.identity.stored_forms(job.files) or state_forms(program_of(program))
    return {
        "made": SYSTEM_CLOCK.now(),
        "job": job.identity.job,
        "buckets": job.identity.buckets,
        "parallelism": job.identity.parallelism,
        # In their order, which JSON of ours keeps.
        "forms": dict(forms),
        "start": start_document(job.start if job.left is None else begun_anew(job.left)),
    }


def _program(saved: Savepoint, files: JobFiles) -> Physical:
    """Give the program of a savepoint, with its tables where they will be."""

    def moved(table: StaticTable) -> StaticTable:
        name = Path(table.name).name
        if table.place != "file" or f"{STATIC}/{name}" not in saved.files:
            return table
        return replace(table, name=str(files.static / name))

    return with_tables(program_of((saved.folder / PROGRAM).read_bytes()), moved)


def _copy_static(saved: Savepoint, files: JobFiles) -> None:
    for name in saved.files:
        if name.startswith(f"{STATIC}/"):
            path = files.static / Path(name).name
            if not path.exists():
                write_durably(path, (saved.folder / name).read_bytes())


def _notes(saved: Savepoint, mapped: Mapped) -> Iterator[Note]:
    for new, old in mapped.goes_on.items():
        for bucket in range(saved.buckets):
            state = saved_state(saved.folder / STATES, old, bucket)
            if state is not None:
                yield new, bucket, whole_note(state)
