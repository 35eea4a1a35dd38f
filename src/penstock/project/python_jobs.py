"""The applications in the Python files of a project directory, each of which is a job."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from penstock.app import App, bounded_run
from penstock.errors import UsageError
from penstock.model.job_settings import JobSettings
from penstock.model.physical import Physical
from penstock.project.program_file import applications

_LEFT_OUT = ("_", "test_", "conftest")
"""How the names of files begin that are none of a project's programs."""


@dataclass(frozen=True, slots=True)
class ProjectJob:
    """A job as a project says it is to be."""

    name: str
    physical: Physical
    settings: JobSettings
    source: str
    bounded: bool = False


def python_jobs(directory: Path) -> tuple[ProjectJob, ...]:
    """Give the jobs of a directory's Python files, those first that write what others read."""
    found: dict[str, ProjectJob] = {}
    for file in sorted(directory.glob("*.py")):
        if file.name.startswith(_LEFT_OUT):
            continue
        for job in _of_file(file):
            if job.name in found:
                raise UsageError(
                    "PROJECT_JOB",
                    f'"{job.source}" and "{found[job.name].source}" both have an application'
                    f' "{job.name}"',
                    hint="A job is known by its name: give one of them another.",
                )
            found[job.name] = job
    return tuple(in_order_of_topics(list(found.values())))


def in_order_of_topics(jobs: list[ProjectJob]) -> Iterator[ProjectJob]:
    """Give jobs so that one comes after those whose topics it reads, where that is possible."""
    left = list(jobs)
    while left:
        written = {output.sink.topic for job in left for output in job.physical.outputs}
        free = [job for job in left if not written & (_read(job) - _written(job))]
        chosen = free or left[:1]
        yield from chosen
        left = [job for job in left if job not in chosen]


def _of_file(file: Path) -> Iterator[ProjectJob]:
    distinct = {id(app): app for app in applications(file).values()}
    for app in distinct.values():
        # One that the file imports is a job of the file that it is written in.
        if Path(app.source).resolve() == file.resolve():
            yield _job(app)


def _job(app: App) -> ProjectJob:
    physical = app.physical()
    return ProjectJob(app.name, physical, app.how(), app.source, bounded_run(physical))


def _read(job: ProjectJob) -> set[str]:
    return {scan.stream.topic for scan in job.physical.scans}


def _written(job: ProjectJob) -> set[str]:
    return {output.sink.topic for output in job.physical.outputs}
