"""A second job of a job's program, which goes on from what the first knows and writes elsewhere."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from penstock.errors import JobError, UsageError, did_you_mean
from penstock.jobs.control import event, require_name
from penstock.jobs.definition import Definition, checkpoint_of
from penstock.jobs.definitions import definition_store
from penstock.jobs.moving import new_folder, savepoint
from penstock.jobs.named import require_defined
from penstock.jobs.quiet import quiet_checkpoint
from penstock.jobs.store import job_store
from penstock.jobs.submit import Submission, job_program, submit
from penstock.model.physical import Physical
from penstock.model.plan import Plan, Sink
from penstock.plan.lower import lower
from penstock.spark.job_files import current_files
from penstock.spark.savepoint import restore


@dataclass(frozen=True, slots=True, kw_only=True)
class Clone:
    """What a copy is to be: where it writes, and whether it begins with what the first knows.

    A topic is called as `topics` says, or after the old one with `suffix`, by default `-<name>`.
    One that is `fresh` reads its input from the start, and knows nothing.
    """

    name: str
    topics: Mapping[str, str] = field(default_factory=dict)
    suffix: str = ""
    fresh: bool = False
    paused: bool = False


def clone(home: Path, text: str, wanted: Clone, *, seconds: float = 60.0) -> Definition:
    """Make a copy of a job, with a checkpoint and results of its own."""
    store = definition_store(home)
    known = require_defined(home, text)
    name = require_name(wanted.name)
    if store.find(name) is not None:
        raise JobError(
            "JOB_EXISTS", f'job "{name}" exists already', hint="Give the copy another name."
        )
    program = written_elsewhere(job_program(home, known), wanted)
    checkpoint = home / "jobs" / name
    if current_files(checkpoint).program is not None:
        raise JobError(
            "JOB_CHECKPOINT",
            f'the checkpoint "{checkpoint}" holds what another program remembers',
            hint="Give the copy another name, or remove that directory.",
        )
    if not wanted.fresh and current_files(checkpoint_of(home, known)).program is not None:
        folder = new_folder(home, f".{name}")
        try:
            savepoint(home, known.name, folder, seconds=seconds)
            with quiet_checkpoint(job_store(home), str(checkpoint), seconds):
                restore(folder, checkpoint, home=home, physical=program)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    asked = Submission(
        name=name,
        application=known.application,
        source=known.source,
        settings=known.settings,
        bounded=known.bounded,
        wish="paused" if wanted.paused else "running",
    )
    made = submit(home, program, asked).definition
    store.tell(known.name, event("cloned", f"as {name}"))
    return made


def written_elsewhere(physical: Physical, wanted: Clone) -> Physical:
    """Give a program under a clone's name, whose results go to topics of the clone."""
    known = [output.sink.topic for output in physical.outputs]
    for topic in wanted.topics:
        if topic not in known:
            raise UsageError(
                "CLONE_TOPIC",
                f'the job does not write topic "{topic}"',
                hint=did_you_mean(topic, known) or f"It writes {', '.join(known)}.",
            )
    sinks = tuple(_elsewhere(output.sink, wanted) for output in physical.outputs)
    # The rules have done their work: the steps stay what they are, and so do their states.
    return lower(Plan(wanted.name, sinks), physical.settings)


def _elsewhere(sink: Sink, wanted: Clone) -> Sink:
    suffix = wanted.suffix or f"-{wanted.name}"

    def moved(topic: str) -> str:
        return wanted.topics.get(topic, f"{topic}{suffix}")

    return replace(
        sink,
        topic=moved(sink.topic),
        late=moved(sink.late) if sink.late else sink.late,
        dead=moved(sink.dead) if sink.dead else sink.dead,
    )
