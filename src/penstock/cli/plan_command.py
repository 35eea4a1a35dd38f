"""`penstock plan`: what applying a project would do to each job, before anything is touched."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.options import JsonOption, settings_of
from penstock.cli.output import examples, report, talk, write_json, write_table
from penstock.errors import UsageError

if TYPE_CHECKING:
    from penstock.project.change import Change
    from penstock.project.project import Project

FAILED, DRIFT = 1, 2

DirectoryArgument = Annotated[
    Path, typer.Argument(metavar="DIRECTORY", help="The project; by default where you are.")
]
FromNowOption = Annotated[
    bool,
    typer.Option("--from-now", help="Changed filters, expressions and functions begin now."),
]
ReplaceOption = Annotated[
    bool,
    typer.Option("--replace-results", help="Make rows that are only added anew, too."),
]
TasksOption = Annotated[
    int | None, typer.Option("--parallelism", min=1, help="Tasks at a time for each level.")
]


def register(application: typer.Typer) -> None:
    """Add the command of this file."""
    application.command(
        "plan",
        epilog=examples("penstock plan", "penstock plan shop --json", "penstock plan --from-now"),
    )(plan)


def plan(
    context: typer.Context,
    directory: DirectoryArgument = Path(),
    *,
    from_now: FromNowOption = False,
    replace_results: ReplaceOption = False,
    parallelism: TasksOption = None,
    json: JsonOption = False,
) -> None:
    """Compare a project with what runs: exit status 0 where nothing is to be done, else 2."""
    changes: tuple[Change, ...] = ()
    try:
        with project_of(context, directory, from_now, replace_results, parallelism) as project:
            changes = project.plan()
    except UsageError as error:
        # 2 says that there is something to apply, and nothing else.
        report(error)
        raise typer.Exit(FAILED) from error
    write_changes(changes, json=json)
    if any(change.drifts for change in changes):
        raise typer.Exit(DRIFT)


def project_of(  # each is an option
    context: typer.Context,
    directory: Path,
    from_now: bool,  # noqa: FBT001
    replaces: bool,  # noqa: FBT001
    parallelism: int | None,
    prune: bool = False,  # noqa: FBT001
) -> Project:
    """Give the project of a directory, with what the command line chose."""
    from penstock.jobs.upgrade import Choice  # noqa: PLC0415  # only these commands need it
    from penstock.project.project import Asked, Project  # noqa: PLC0415

    home = settings_of(context, directory.absolute()).home
    return Project(directory, home, Asked(Choice(from_now, replaces), parallelism, prune))


def write_changes(changes: tuple[Change, ...], *, json: bool) -> None:
    """Write what is done with each job."""
    if json:
        write_json([_document(change) for change in changes])
    elif changes:
        rows = [(item.name, item.does, item.reason) for item in changes]
        write_table(("job", "verdict", "why"), rows)
    else:
        talk("the project says of no job that it is to be, and none came from it")


def _document(change: Change) -> dict[str, object]:
    parts = [
        {"part": item.part, "verdict": item.kind, "reason": item.reason} for item in change.findings
    ]
    return {"job": change.name, "verdict": change.does, "reason": change.reason, "parts": parts}
