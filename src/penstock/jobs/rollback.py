"""A job goes back to a version that it was, by the same way on which it came to be another."""

from __future__ import annotations

from pathlib import Path

from penstock.errors import JobError
from penstock.jobs.definitions import definition_store
from penstock.model.physical import Physical
from penstock.spark.stored_program import program_of


def earlier_version(home: Path, name: str, version: int | None = None) -> tuple[int, Physical]:
    """Give the version before the one that a job is, or the one asked for, and its program."""
    store = definition_store(home)
    definition = store.get(name)
    if version is None:
        before = [number for number in store.versions(name) if number < definition.version]
        if not before:
            raise JobError(
                "JOB_VERSION",
                f'job "{name}" has no version before {definition.version}',
                hint="Those that it has are listed by `penstock jobs show`.",
            )
        version = before[-1]
    return version, program_of(store.program(name, version))
