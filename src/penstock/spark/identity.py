"""What must not change while a checkpoint lives: the job's name in the log, buckets, states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from uuid import uuid4

from penstock.errors import StateError
from penstock.model.physical import Physical
from penstock.plan.fingerprint import state_fingerprint
from penstock.spark.job_files import JobFiles, read_json, write_json
from penstock.spark.state_forms import Forms, require_fitting_forms, state_forms


@dataclass(frozen=True, slots=True)
class Identity:
    """Fixed when a checkpoint begins. `operators` holds the layout of each operator's state.

    Only `states` may change: what processes remember, as they last declared it.
    """

    job: str
    buckets: int
    parallelism: int
    operators: Mapping[str, str]
    levels: int
    states: Forms = field(default_factory=dict)

    def applied(self, physical: Physical) -> Physical:
        """Give the program with the buckets and tasks that its state is kept in."""
        settings = replace(physical.settings, buckets=self.buckets, parallelism=self.parallelism)
        return replace(physical, settings=settings)


def identify(files: JobFiles, physical: Physical) -> Identity:
    """Give the identity of a checkpoint, making it at the first start.

    A program whose operators are not those of the checkpoint is refused.
    """
    known = read_identity(files)
    operators = {keyed.id: state_fingerprint(keyed) for keyed in physical.operators}
    if known is None:
        settings, levels = physical.settings, len(physical.levels)
        job, forms = uuid4().hex, state_forms(physical)
        known = Identity(job, settings.buckets, settings.parallelism, operators, levels, forms)
        keep_identity(files, known)
        return known
    for name in sorted({*known.operators, *operators}):
        if known.operators.get(name) != operators.get(name):
            raise StateError(
                "CHECKPOINT_PROGRAM",
                f'operator "{name}" of program "{physical.name}" is not the one whose state the'
                f' checkpoint "{files.folder.parent}" keeps',
                hint="The program has changed: give it a new checkpoint, or run the old program.",
            )
    if known.parallelism != physical.settings.parallelism:
        raise StateError(
            "CHECKPOINT_PARALLELISM",
            f'the checkpoint "{files.folder.parent}" is kept by {known.parallelism} tasks, and'
            f" {physical.settings.parallelism} are asked for",
            hint="Rescale the stopped job, or start it with the parallelism it has.",
        )
    return _with_states(files, known, physical)


def _with_states(files: JobFiles, known: Identity, physical: Physical) -> Identity:
    """Let processes remember something else from now on, where what is stored can become it."""
    require_fitting_forms(known.states, physical)
    forms = state_forms(physical)
    if forms == known.states:
        return known
    changed = replace(known, states=forms)
    keep_identity(files, changed)
    return changed


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
        found.get("states", {}),
    )


def keep_identity(files: JobFiles, identity: Identity) -> None:
    """Store the identity of a new checkpoint."""
    write_json(
        files.identity,
        {
            "job": identity.job,
            "buckets": identity.buckets,
            "parallelism": identity.parallelism,
            "operators": dict(identity.operators),
            "levels": identity.levels,
            "states": dict(identity.states),
        },
    )
