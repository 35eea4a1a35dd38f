"""How a program becomes a job, and how it gets its next version."""

from __future__ import annotations

import getpass
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

from penstock.clock import SYSTEM_CLOCK, Clock
from penstock.errors import JobError, UsageError
from penstock.jobs.control import event, require_name
from penstock.jobs.definition import Definition, Event, Wish, checkpoint_of
from penstock.jobs.definitions import DefinitionStore, definition_store
from penstock.jobs.named import named
from penstock.model.job_settings import JOB_SETTINGS, JobSettings
from penstock.model.physical import Physical
from penstock.plan.fingerprint import fingerprint
from penstock.spark.identity import identify, read_identity
from penstock.spark.job_files import current_files
from penstock.spark.stored_program import load_program, program_bytes, program_of
from penstock.spark.stored_states import require_program

Outcome: TypeAlias = Literal["new", "unchanged", "settings"]
"""What a submission did: made a job, nothing, or gave it other settings."""

_KEPT = 10
"""How many programs of a job are kept, to go back to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """How a program becomes a job: under its own name and application unless these are given."""

    name: str = ""
    application: str = ""
    source: str = ""
    settings: JobSettings = JOB_SETTINGS
    checkpoint: str = ""
    bounded: bool = False
    wish: Wish = "running"


@dataclass(frozen=True, slots=True)
class Submitted:
    """A job, and what the submission did to it; `changed` says which settings are others."""

    definition: Definition
    outcome: Outcome
    changed: str = ""


def submit(
    home: Path,
    physical: Physical,
    submission: Submission | None = None,
    *,
    clock: Clock = SYSTEM_CLOCK,
) -> Submitted:
    """Make a job of a program; the same one again changes nothing but its settings.

    Another program under the name of a job is refused: its state may not fit.
    """
    asked = submission or Submission()
    name = require_name(asked.name or physical.name)
    program = replace(physical, name=name)
    store = definition_store(home)
    with store.changing(name):
        known = _known(store, name)
        if known is not None:
            return _submit_again(store, known, program, asked, clock)
        now = clock.now()
        definition = Definition(
            name=name,
            source=asked.source,
            application=asked.application or name,
            owner=getpass.getuser(),
            version=max(store.versions(name), default=0) + 1,
            fingerprint=fingerprint(program),
            created_at=now,
            changed_at=now,
            wish=asked.wish,
            settings=asked.settings,
            # Whoever hosts it may be at home in another directory.
            checkpoint=asked.checkpoint and str(Path(asked.checkpoint).absolute()),
            bounded=asked.bounded,
        )
        _require_own_checkpoint(home, store, definition)
        _require_fitting_state(home, definition, program)
        done = event("submitted", asked.source, clock=clock)
        return Submitted(store.put(definition, done, program_bytes(program)), "new")


def put_version(
    store: DefinitionStore,
    name: str,
    physical: Physical,
    done: Event | None = None,
    change: Callable[[Definition], Definition] = lambda definition: definition,
) -> Definition:
    """Give a job another program as its next version; the oldest ones are forgotten.

    Whether its state fits is for the caller to know. `done` is told in its history; `change`
    changes what else of the definition is to be another.
    """
    program = replace(physical, name=name)
    with store.changing(name):
        version = max(store.versions(name), default=0) + 1
        told = done or event("upgraded", f"version {version}")
        fresh = replace(
            change(store.get(name)),
            version=version,
            fingerprint=fingerprint(program),
            changed_at=told.at,
        )
        put = store.put(fresh, told, program_bytes(program))
        for old in store.versions(name)[:-_KEPT]:
            store.forget_version(name, old)
        return put


def job_program(home: Path, definition: Definition) -> Physical:
    """Give the program of a job as it is to run: in the tasks that its checkpoint is kept by."""
    data = definition_store(home).program(definition.name, definition.version)
    physical = program_of(data)
    identity = read_identity(current_files(checkpoint_of(home, definition)))
    return physical if identity is None else identity.applied(physical)


def known_program(home: Path, text: str) -> Physical:
    """Give the program of a job, or of a run of one that is none, as its checkpoint has it."""
    found = named(home, text)
    if found.definition is not None:
        return job_program(home, found.definition)
    return load_program(str(require_program(current_files(Path(found.checkpoint))))).physical


def _known(store: DefinitionStore, name: str) -> Definition | None:
    """Give a definition; one whose file is damaged is made anew."""
    try:
        return store.find(name)
    except JobError as error:
        if error.code != "JOB_UNREADABLE":
            raise
        return None


def _submit_again(
    store: DefinitionStore, known: Definition, program: Physical, asked: Submission, clock: Clock
) -> Submitted:
    if fingerprint(program) != known.fingerprint:
        raise JobError(
            "JOB_CHANGED",
            f'the program is not version {known.version} of job "{known.name}"',
            hint="See with `penstock plan` what it would do to the job, and do it with `penstock"
            " apply`; or submit it under another name with --name.",
        )
    application = asked.application or known.application
    fresh = replace(known, settings=asked.settings, application=application, bounded=asked.bounded)
    if fresh == known:
        return Submitted(known, "unchanged")
    fresh = replace(fresh, changed_at=clock.now())
    told = _told(known, fresh)
    return Submitted(store.put(fresh, event("set", told, clock=clock)), "settings", told)


def _told(before: Definition, after: Definition) -> str:
    """Say which settings have become which."""
    changed = [
        f"{name} {getattr(after.settings, name)}"
        for name in JobSettings.__slots__
        if getattr(before.settings, name) != getattr(after.settings, name)
    ]
    if before.application != after.application:
        changed.append(f"application {after.application}")
    if before.bounded != after.bounded:
        changed.append("with an end" if after.bounded else "without an end")
    return ", ".join(changed)


def _require_fitting_state(home: Path, definition: Definition, program: Physical) -> None:
    """Refuse a program that cannot go on with what its checkpoint holds, before it runs."""
    files = current_files(checkpoint_of(home, definition))
    identity = read_identity(files)
    if identity is not None:
        identify(files, identity.applied(program))


def _require_own_checkpoint(home: Path, store: DefinitionStore, definition: Definition) -> None:
    place = checkpoint_of(home, definition).absolute()
    for other in (store.get(name) for name in store.names() if name != definition.name):
        if checkpoint_of(home, other).absolute() == place:
            raise UsageError(
                "JOB_CHECKPOINT",
                f'the checkpoint "{place}" is that of job "{other.name}"',
                hint="Each job has its own: leave out --checkpoint.",
            )
