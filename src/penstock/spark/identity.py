"""What a checkpoint holds a program to: the job's name in the log, buckets, forms of states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from uuid import uuid4

from penstock.errors import StateError
from penstock.model.physical import Physical
from penstock.plan.fingerprint import state_fingerprint
from penstock.spark.job_files import JobFiles, read_json, write_json
from penstock.spark.state_forms import Forms, check_forms, state_forms


@dataclass(frozen=True, slots=True)
class Identity:
    """Fixed when a checkpoint begins, but for the forms of states, which may become others.

    `operators` holds the fingerprint of each operator's state, `forms` how it looks. `stored`
    are the forms before the last change: states have them until a batch after `since` is done.
    """

    job: str
    buckets: int
    parallelism: int
    operators: Mapping[str, str]
    levels: int
    forms: Forms = field(default_factory=dict)
    stored: Forms = field(default_factory=dict)
    since: int = -1

    def applied(self, physical: Physical) -> Physical:
        """Give the program with the buckets and tasks that its state is kept in."""
        settings = replace(physical.settings, buckets=self.buckets, parallelism=self.parallelism)
        return replace(physical, settings=settings)

    def stored_forms(self, files: JobFiles) -> Forms:
        """Give the forms that the states of the last finished batch have.

        A batch steps every bucket that remembers something, and so brings all into one form.
        """
        return self.forms if files.committed > self.since else self.stored or self.forms

    def moved(self, files: JobFiles) -> Identity:
        """Give it for a new generation, whose batches are counted from 0 again."""
        return replace(self, stored=self.stored_forms(files), since=-1)


@dataclass(frozen=True, slots=True)
class Identified:
    """The identity that a program is to run with, and what its user should know before."""

    identity: Identity
    warnings: tuple[str, ...] = ()


def identify(files: JobFiles, physical: Physical) -> Identified:
    """Give the identity of a checkpoint for a program, or a new one; nothing is written.

    A program that the states of the checkpoint cannot become those of is refused.
    """
    known = read_identity(files)
    operators = {keyed.id: state_fingerprint(keyed) for keyed in physical.operators}
    forms = state_forms(physical)
    if known is None:
        return Identified(new_identity(physical))
    stored = known.stored_forms(files)
    warnings = check_forms(stored, physical)
    _require_same_program(files, known, physical)
    if forms == known.forms:
        return Identified(known)
    changed = replace(known, operators=operators, forms=forms, stored=stored, since=files.committed)
    return Identified(changed, warnings)


def new_identity(physical: Physical) -> Identity:
    """Give the identity of a job that begins with nothing."""
    return Identity(
        uuid4().hex,
        physical.settings.buckets,
        physical.settings.parallelism,
        {keyed.id: state_fingerprint(keyed) for keyed in physical.operators},
        len(physical.levels),
        state_forms(physical),
    )


def _require_same_program(files: JobFiles, known: Identity, physical: Physical) -> None:
    place = f'the checkpoint "{files.folder.parent}"'
    operators = {keyed.id: state_fingerprint(keyed) for keyed in physical.operators}
    # Where their forms are known these decide, and say more.
    unknown = not known.stored_forms(files) and operators != known.operators
    if unknown or len(physical.levels) != known.levels:
        raise StateError(
            "CHECKPOINT_PROGRAM",
            f'the operators of program "{physical.name}" are not those whose state {place} keeps',
            hint="The program has changed: give it a new checkpoint, or run the old program.",
        )
    if known.parallelism != physical.settings.parallelism:
        raise StateError(
            "CHECKPOINT_PARALLELISM",
            f"{place} is kept by {known.parallelism} tasks, and"
            f" {physical.settings.parallelism} are asked for",
            hint="Rescale the stopped job, or start it with the parallelism it has.",
        )


def read_identity(files: JobFiles) -> Identity | None:
    """Give the identity of a checkpoint; none where it has not begun."""
    found = read_json(files.identity)
    if found is None:
        return None
    return Identity(
        found["job"],
        found["buckets"],
        found["parallelism"],
        found["operators"],
        found["levels"],
        found.get("forms", {}),
        found.get("stored", {}),
        found.get("since", -1),
    )


def keep_identity(files: JobFiles, identity: Identity) -> None:
    """Store the identity that a checkpoint has from now on."""
    write_json(
        files.identity,
        {
            "job": identity.job,
            "buckets": identity.buckets,
            "parallelism": identity.parallelism,
            "operators": dict(identity.operators),
            "levels": identity.levels,
            "forms": dict(identity.forms),
            "stored": dict(identity.stored),
            "since": identity.since,
        },
    )
