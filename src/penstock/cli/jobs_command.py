"""`penstock jobs`: which jobs there are, how far they are, and all that can be done to them."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli import jobs_logs, jobs_move, jobs_submit, jobs_wish
from penstock.cli.explain_command import StageName
from penstock.cli.job_argument import JobArgument
from penstock.cli.job_text import JOB_COLUMNS, RUN_COLUMNS, job_row, run_row, view_lines
from penstock.cli.options import JsonOption
from penstock.cli.output import examples, talk, write_json, write_line, write_table
from penstock.cli.served import office_of, tell_of_host

if TYPE_CHECKING:
    from penstock.jobs.view import JobView


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
        "show",
        epilog=examples(
            "penstock jobs show shop",
            "penstock jobs show shop-1 --json",
            "penstock jobs show shop --stage physical",
        ),
    )(show)
    for part in (jobs_submit, jobs_wish, jobs_move, jobs_logs):
        part.register(group)
    application.add_typer(
        group,
        name="jobs",
        help="Submit jobs, see how far they are, and stop, move, copy and keep them.",
        epilog=examples("penstock jobs submit shop.py", "penstock jobs list"),
    )


def list_jobs(
    context: typer.Context,
    *,
    application: Annotated[
        str | None,
        typer.Option("--application", metavar="NAME", help="Only the jobs of this application."),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Runs that have ended, too.")] = False,
    json: JsonOption = False,
) -> None:
    """List the jobs, and the runs of programs that are none, with state, lag and user."""
    from penstock.jobs.view import WAITING, view_document  # noqa: PLC0415

    office = office_of(context)
    found = [
        view
        for view in office.views()
        if _shown(view, everything=everything) and application in (None, _application(view))
    ]
    if json:
        write_json([view_document(view) for view in found])
    elif found:
        _write(found)
        if any(view.state == WAITING for view in found):
            tell_of_host(office)
    else:
        talk("there is no job; one begins with: penstock jobs submit FILE, or penstock run FILE")


def show(
    context: typer.Context,
    name: JobArgument,
    *,
    stage: Annotated[
        StageName | None, typer.Option("--stage", help="The plan of its program: a stage, or all.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Show a job: elements, lag and watermark by partition, accounting, state, errors, history."""
    from penstock.jobs.recovery import recovery_lines  # noqa: PLC0415
    from penstock.jobs.view import view_document  # noqa: PLC0415

    office = office_of(context)
    view = office.view(name)
    plan = None if stage is None else office.plan(name, stage.value)
    report = office.recovery(name)
    if json:
        document = view_document(view) | {
            "progress": None if view.progress is None else asdict(view.progress),
            "runs": [run.id for run in view.runs],
            "versions": view.versions,
            "history": [asdict(item) for item in view.history],
            "recovery": None if report is None else asdict(report) | {"seconds": report.seconds},
        }
        texts = None if plan is None else {key: text.splitlines() for key, text in plan.items()}
        write_json(document if texts is None else document | {"plan": texts})
        return
    for line in view_lines(view) if plan is None else "\n\n".join(plan.values()).splitlines():
        write_line(line)
    for line in recovery_lines(report) if report is not None and plan is None else ():
        write_line(line)


def _shown(view: JobView, *, everything: bool) -> bool:
    if everything or view.definition is not None or view.run is None:
        return True
    return view.run.alive or view.run.state == "lost"


def _application(view: JobView) -> str:
    if view.definition is not None:
        return view.definition.application
    return "" if view.run is None else view.run.application


def _write(found: list[JobView]) -> None:
    jobs = [job_row(view) for view in found if view.definition is not None]
    runs = [run_row(view.run) for view in found if view.definition is None and view.run]
    if jobs:
        write_table(JOB_COLUMNS, jobs)
    if jobs and runs:
        write_line("")
    if runs:
        write_table(RUN_COLUMNS, runs)
    for view in found:
        if view.damage:
            talk(f'job "{view.name}" is {view.state}: {view.damage}')
