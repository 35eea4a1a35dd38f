"""`penstock host`: the process that runs all jobs of a home, and what it has in hand."""

from __future__ import annotations

import contextlib
import signal
from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.options import JsonOption, exported_flags, settings_of
from penstock.cli.output import examples, talk, write_json, write_line, write_table
from penstock.errors import JobError, UsageError
from penstock.text.times import time_text

if TYPE_CHECKING:
    from pathlib import Path

    from penstock.jobs.host_file import HostedJob, HostView

_FAILED = 1
_NOTHING = "-"


class Action(StrEnum):
    """What can be asked for beside hosting."""

    STATUS = "status"
    WORKER = "worker"


def register(application: typer.Typer) -> None:
    """Add the command of this file."""
    application.command(
        "host",
        epilog=examples(
            "penstock host",
            "penstock host --until-idle",
            "penstock host --shared",
            "penstock host status",
            "penstock host status --json",
        ),
    )(host)


def host(  # noqa: PLR0913  # each parameter is an option
    context: typer.Context,
    action: Annotated[
        Action | None,
        typer.Argument(
            help="status: the host, its workers and what runs where. worker: for hosts only."
        ),
    ] = None,
    name: Annotated[str, typer.Argument(metavar="JOB", help="The job of a worker.")] = "",
    *,
    until_idle: Annotated[
        bool,
        typer.Option("--until-idle", help="End when all jobs have read what there is."),
    ] = False,
    shared: Annotated[
        bool,
        typer.Option("--shared", help="Run queries of SQL over the same streams as one on Spark."),
    ] = False,
    restarts: Annotated[
        int, typer.Option("--restarts", hidden=True, help="How often a worker was begun before.")
    ] = 0,
    json: JsonOption = False,
) -> None:
    """Run the jobs that are wished to run, and the queries of SQL, until Ctrl-C.

    What is submitted, paused, stopped or changed meanwhile is followed within a second.
    """
    if (action is Action.WORKER) != bool(name):
        raise UsageError(
            "HOST_ACTION",
            f'"{action or "host"}" is given {"a" if name else "no"} job',
            hint="A host runs all jobs; which they are is seen to with `penstock jobs`.",
        )
    home = settings_of(context).home.absolute()
    if action is Action.STATUS:
        _status(home, json=json)
        return
    # A service manager stops what it started by this signal: an end as orderly as by Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with exported_flags(context):
        if action is Action.WORKER:
            from penstock.serve.hosting import run_worker  # noqa: PLC0415  # Spark

            raise typer.Exit(run_worker(home, name, restarts))
        _host(home, until_idle=until_idle, shared=shared)


def _host(home: Path, *, until_idle: bool, shared: bool) -> None:
    from penstock.serve.hosting import Jobs, host_of, run_until_idle  # noqa: PLC0415  # Spark

    if until_idle:
        failures = run_until_idle(home, told=_tell)
        if failures:
            raise typer.Exit(_FAILED)
        return
    from penstock.serve.watching import watching  # noqa: PLC0415

    with Jobs(home, shared=shared) as jobs, watching(home):
        talk("running the jobs of this home; Ctrl-C ends them after their batch")
        host_of(home, jobs, told=_tell).run()


def _tell(job: HostedJob) -> None:
    why = f": {job.failure}" if job.failure and job.state in {"waiting", "failed", "busy"} else ""
    # Whoever listened may have left: jobs are not to end by that.
    with contextlib.suppress(OSError):
        talk(f"{job.name} is {job.state}{why}")


def _status(home: Path, *, json: bool) -> None:
    from penstock.jobs.host_file import host_file  # noqa: PLC0415  # only this command needs it

    view = host_file(home).view()
    if view is None or not view.alive:
        raise JobError(
            "HOST_MISSING",
            "no process hosts the jobs of this home"
            + ("" if view is None else f"; process {view.pid} did, and is gone"),
            hint="Start one with `penstock host`.",
        )
    if json:
        write_json(_document(view))
        return
    write_line(f"host {view.pid} of {view.user}, since {time_text(view.since)}")
    if view.trouble:
        write_line(f"trouble: {view.trouble}")
    columns = ("job", "state", "since", "where", "run", "restarts", "failure")
    write_table(columns, [_row(job) for job in view.jobs])


def _document(view: HostView) -> dict[str, object]:
    """Give the host, its workers, and what runs where."""
    told = asdict(view)
    workers = [
        {
            "pid": job.pid,
            "since": job.since,
            "state": job.state,
            "jobs": [job.name],
            "restarts": job.restarts,
        }
        for job in view.jobs
        if job.worker
    ]
    return {**told, "workers": workers}


def _row(job: HostedJob) -> tuple[object, ...]:
    where = f"worker {job.pid}" if job.worker else "host"
    if job.standby is not None:
        where += f", standby {job.standby}"
    since = time_text(job.since, timespec="seconds")
    run, failure = job.run or _NOTHING, job.failure or _NOTHING
    return (job.name, job.state, since, where, run, job.restarts, failure)
