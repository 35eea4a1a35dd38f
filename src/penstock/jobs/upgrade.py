"""A job goes on as a changed program, as the verdict says; only its results show it."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from penstock.errors import JobError
from penstock.jobs.circumstances import lost_inputs, other_programs, readers_of, writers_of
from penstock.jobs.control import event
from penstock.jobs.defined_job import DefinedJob
from penstock.jobs.definition import Definition, checkpoint_of
from penstock.jobs.definitions import definition_store
from penstock.jobs.engine import Engine
from penstock.jobs.takeover import Rebuild, abandon, rebuild, settle_takeover
from penstock.jobs.upgrade_file import read_upgrade
from penstock.log.open import open_log
from penstock.model.job_settings import JobSettings
from penstock.model.physical import Physical
from penstock.plan.finding import Finding
from penstock.plan.fingerprint import fingerprint
from penstock.plan.verdict import Circumstances, Verdict, Version, verdict
from penstock.spark.identity import read_identity
from penstock.spark.job_files import current_files
from penstock.spark.retired import retire
from penstock.spark.savepoint import restore, save
from penstock.spark.stored_program import program_of


@dataclass(frozen=True, slots=True)
class Choice:
    """What the owner chose: changes begin now; rows only ever added are made anew, too."""

    from_now: bool = False
    replaces: bool = False


CHOICE = Choice()


def judge(
    home: Path, name: str, physical: Physical, settings: JobSettings, engine: Engine, choice: Choice
) -> Verdict:
    """Say what it takes to let a job go on as another program; nothing is touched."""
    definition = definition_store(home).get(name)
    checkpoint = checkpoint_of(home, definition)
    data = definition_store(home).program(name, definition.version)
    before = Version(
        _in_its_tasks(checkpoint, program_of(data)), definition.settings, definition.fingerprint
    )
    program = replace(physical, name=name)
    after = Version(program, settings, fingerprint(program))
    others = other_programs(home, name)
    with open_log(home) as log:
        around = Circumstances(
            lost=lost_inputs(log, program, engine.began(checkpoint)),
            writers=writers_of(others),
            readers=readers_of(others, log, without=(name, *others)),
            from_now=choice.from_now or settings.upgrade == "from now",
            replaces=choice.replaces,
        )
    found = verdict(before, after, around)
    begun = bool(engine.reached(checkpoint))
    return found if begun or found.kind in {"unchanged", "refuse"} else _not_begun(found)


def upgrade(
    home: Path, name: str, physical: Physical, found: Verdict, engine: Engine, how: Rebuild
) -> Definition:
    """Do what a verdict says; settings are those of the definition, see `set_settings`."""
    if found.kind == "refuse":
        raise JobError(
            "UPGRADE_REFUSED",
            f'job "{name}" cannot become that program: {found.reason}',
            hint="Give the program another name, so that it is another job beside this one.",
        )
    if found.kind == "unchanged":
        return definition_store(home).get(name)
    job = DefinedJob(home, name)
    if found.kind == "rebuild":
        rebuild(job, physical, engine, how)
        return job.definition
    abandon(home, name)
    with job.quiet(how.seconds):
        if _moves(job, physical, found):
            return _carried(job, physical, found, how)
        return job.put(physical, how.what)


def set_settings(home: Path, name: str, settings: JobSettings) -> Definition:
    """Let a job be run with other settings; its host begins it anew with them."""
    store = definition_store(home)
    if store.get(name).settings == settings:
        return store.get(name)
    done = event("set", "as its project says")
    return store.change(name, done, lambda known: replace(known, settings=settings))


def settle(home: Path, name: str, seconds: float = 60.0) -> bool:
    """Finish a takeover of a job that was cut short; whether there was one."""
    found = read_upgrade(home, name)
    if found is None or found.step != "taking over":
        return False
    job = DefinedJob(home, name)
    with job.quiet(seconds):
        return settle_takeover(job)


def _carried(job: DefinedJob, physical: Physical, found: Verdict, how: Rebuild) -> Definition:
    """Give a job that is quiet its program, with its states where these belong now."""
    before = job.checkpoint
    mark, checkpoint = job.next_version()
    folder = checkpoint.with_name(f"{checkpoint.name}.states")
    save(job.home, before, folder)
    restore(
        folder,
        checkpoint,
        home=job.home,
        physical=replace(physical, name=job.name),
        operators=found.operators,
        parallelism=physical.settings.parallelism,
    )
    how.reached("carried")
    # One replaced file decides: before it the job is the old version, after it the new one.
    done = job.put(physical, how.what, f"{mark} goes on with the states of before", checkpoint)
    how.reached("switched")
    shutil.rmtree(folder, ignore_errors=True)
    retire(before, checkpoint)
    return done


def _moves(job: DefinedJob, physical: Physical, found: Verdict) -> bool:
    """Whether states have to be put elsewhere: other names, other levels or other tasks."""
    identity = read_identity(current_files(job.checkpoint))
    if identity is None:
        return False
    return (
        [keyed.id for keyed in physical.operators] != [keyed.id for keyed in job.program.operators]
        or any(new != before for new, before in found.operators.items())
        or len(physical.levels) != identity.levels
        or physical.settings.parallelism != identity.parallelism
    )


def _in_its_tasks(checkpoint: Path, physical: Physical) -> Physical:
    identity = read_identity(current_files(checkpoint))
    return physical if identity is None else identity.applied(physical)


def _not_begun(found: Verdict) -> Verdict:
    """Say that a job which has read nothing yet can become anything."""
    reason = f"it has read nothing yet; {found.reason}"
    findings = (*found.findings, Finding("job", "compatible", reason))
    return Verdict("compatible", reason, findings, found.operators)
