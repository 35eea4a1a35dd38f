"""What applying a project would do to the jobs of its Python files, before anything is touched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from penstock.jobs.circumstances import other_programs, writers_of
from penstock.jobs.definition import Definition, checkpoint_of
from penstock.jobs.definitions import definition_store
from penstock.jobs.engine import Engine
from penstock.jobs.upgrade import Choice, judge
from penstock.plan.verdict import Verdict
from penstock.project.change import Change
from penstock.project.python_jobs import ProjectJob
from penstock.spark.identity import read_identity
from penstock.spark.job_files import current_files


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What jobs are compared with beside those that are defined.

    `writers` says which query of SQL writes a topic; `parallelism` how many tasks are asked for.
    """

    choice: Choice
    parallelism: int | None = None
    writers: Mapping[str, str] = field(default_factory=dict)


def plan_jobs(
    home: Path, directory: Path, jobs: Sequence[ProjectJob], engine: Engine, around: Around
) -> tuple[Change, ...]:
    """Compare the jobs of a project with those that are defined."""
    store = definition_store(home)
    known = {definition.name: definition for definition in store.all()}
    twice = _written_twice(home, jobs, around.writers)
    changes: list[Change] = []
    for wanted in jobs:
        definition = known.get(wanted.name)
        job = _in_tasks(home, wanted, definition, around.parallelism)
        if wanted.name in twice:
            reason = twice[wanted.name]
            changes.append(Change(job.name, "refuse", reason, Verdict("refuse", reason), job))
        elif definition is None:
            changes.append(Change(job.name, "create", f"new in {Path(job.source).name}", job=job))
        else:
            found = judge(home, job.name, job.physical, job.settings, engine, around.choice)
            changes.append(Change(job.name, found.kind, found.reason, found, job))
    return (*changes, *_removed(directory, known, {job.name for job in jobs}))


def _in_tasks(
    home: Path, job: ProjectJob, definition: Definition | None, parallelism: int | None
) -> ProjectJob:
    """Give a job in the tasks asked for, else in those it has: they may have been changed since."""
    tasks = parallelism
    if tasks is None and definition is not None:
        identity = read_identity(current_files(checkpoint_of(home, definition)))
        tasks = None if identity is None else identity.parallelism
    if tasks is None:
        return job
    settings = replace(job.physical.settings, parallelism=tasks)
    return replace(job, physical=replace(job.physical, settings=settings))


def _written_twice(
    home: Path, jobs: Sequence[ProjectJob], queries: Mapping[str, str]
) -> Mapping[str, str]:
    """Give the jobs that write what another one writes, with the reason."""
    found: dict[str, str] = {}
    names = {job.name for job in jobs}
    others = {name: item for name, item in other_programs(home, "").items() if name not in names}
    writers = {**queries, **writers_of(others)}
    for job in jobs:
        for output in job.physical.outputs:
            other = writers.setdefault(output.sink.place, job.name)
            if other != job.name:
                found[job.name] = f'job "{other}" writes "{output.sink.place}" already'
    return found


def _removed(
    directory: Path, known: Mapping[str, Definition], wanted: set[str]
) -> Iterator[Change]:
    """Give the jobs that came from files of the directory and are in none of them now."""
    for name, definition in known.items():
        if name in wanted or not definition.source:
            continue
        if Path(definition.source).resolve().parent == directory.resolve():
            file = Path(definition.source).name
            yield Change(name, "remove", f"it was in {file}, and is in the project no more")
