"""`penstock jobs`: which programs run, how far they are, and how to stop them."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.job_text import job_lines
from penstock.cli.options import JsonOption, settings_of
from penstock.cli.output import examples, talk, waiting, write_json, write_line, write_table
from penstock.cli.times import time_text
from penstock.errors import PenstockError

if TYPE_CHECKING:
    from penstock.jobs.job import Job
    from penstock.jobs.store import JobStore


def complete_job(ctx: typer.Context, incomplete: str) -> list[str]:
    """Complete a job's id."""
    try:
        names = [job.id for job in _store(ctx).jobs()]
    except (OSError, PenstockError):
        # There is nobody to tell during completion; the command itself will say what is wrong.
        return []
    return [name for name in names if name.startswith(incomplete)]


JobArgument = Annotated[
    str, typer.Argument(metavar="JOB", help="A job's id.", autocompletion=complete_job)
]


def register(application: typer.Typer) -> None:
    """Add the commands of this file."""
    group = typer.Typer(no_args_is_help=True)
    group.command(
        "list",
        epilog=examples(
            "penstock jobs list",
            "penstock jobs list --application shop",
            "penstock jobs list --all --json",
        ),
    )(list_jobs)
    group.command(
        "show", epilog=examples("penstock jobs show shop-1", "penstock jobs show shop-1 --json")
    )(show)
    group.command(
        "stop",
        epilog=examples(
            "penstock jobs stop shop-1",
            "penstock jobs stop shop-1 --now",
            "penstock jobs stop shop-1 --no-wait",
        ),
    )(stop)
    application.add_typer(
        group,
        name="jobs",
        help="See running programs and how far they are, and stop them.",
        epilog=examples("penstock jobs list", "penstock jobs show shop-1"),
    )


def list_jobs(
    context: typer.Context,
    *,
    application: Annotated[
        str | None,
        typer.Option("--application", metavar="NAME", help="Only the jobs of this application."),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Those that have ended, too.")] = False,
    json: JsonOption = False,
) -> None:
    """List the jobs that run, with their processing elements, state and user."""
    found = [
        job
        for job in _store(context).jobs()
        if (everything or job.alive or job.state == "lost")
        and application in (None, job.application)
    ]
    if json:
        write_json([asdict(job) for job in found])
    elif found:
        columns = ("job", "application", "state", "user", "pid", "started", "elements")
        write_table(columns, [_row(job) for job in found])
    else:
        talk("no job runs; one begins with: penstock run FILE")


def show(context: typer.Context, name: JobArgument, json: JsonOption = False) -> None:
    """Show a job: its elements, its watermarks, its accounting, its state and its processes."""
    store = _store(context)
    job, progress = store.job(name), store.progress(name)
    if json:
        document = asdict(job) | {"progress": None if progress is None else asdict(progress)}
        write_json(document)
        return
    for line in job_lines(job, progress):
        write_line(line)


def stop(
    context: typer.Context,
    name: JobArgument,
    *,
    now: Annotated[
        bool,
        typer.Option("--now", help="At once: the batch in hand is done again by the next start."),
    ] = False,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Whether to wait until it has ended.")
    ] = True,
    timeout: Annotated[
        float, typer.Option("--timeout", min=0, metavar="SECONDS", help="How long to wait.")
    ] = 60.0,
) -> None:
    """Stop a job; the next run of its program goes on where it stopped."""
    from penstock.jobs.stop import ask_to_stop, wait_for_end  # noqa: PLC0415

    store = _store(context)
    ask_to_stop(store, name, "cancel" if now else "stop")
    if not wait:
        talk(f'job "{name}" was asked to stop')
        return
    with waiting(f"waiting for {name} to end"):
        job = wait_for_end(store, name, timeout)
    talk(f'job "{name}" is {job.state}')


def _store(context: typer.Context) -> JobStore:
    from penstock.jobs.store import job_store  # noqa: PLC0415  # only these commands need it

    return job_store(settings_of(context).home)


def _row(job: Job) -> tuple[object, ...]:
    started = time_text(job.started_at, timespec="seconds")
    elements = ",".join(element.id for element in job.elements) or "-"
    return (job.id, job.application, job.state, job.user, job.pid, started, elements)
