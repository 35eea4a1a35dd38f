"""`penstock apply`: jobs become what a project says they are to be."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.options import JsonOption, settings_of
from penstock.cli.output import examples, talk, write_json, write_line
from penstock.cli.plan_command import (
    DirectoryArgument,
    FromNowOption,
    ReplaceOption,
    TasksOption,
    project_of,
    write_changes,
)

if TYPE_CHECKING:
    from penstock.jobs.engine import Engine
    from penstock.jobs.takeover import Rebuild
    from penstock.model.progress import Progress
    from penstock.project.change import Change

YesOption = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
TimeoutOption = Annotated[
    float,
    typer.Option(
        "--timeout", min=0, metavar="SECONDS", help="How long a job may take to stand still."
    ),
]


def register(application: typer.Typer) -> None:
    """Add the command of this file."""
    application.command(
        "apply",
        epilog=examples(
            "penstock apply",
            "penstock apply shop --yes",
            "penstock apply --from-now",
            "penstock apply --prune",
        ),
    )(apply)


def apply(  # noqa: PLR0913  # each parameter is an option
    context: typer.Context,
    directory: DirectoryArgument = Path(),
    *,
    yes: YesOption = False,
    from_now: FromNowOption = False,
    prune: Annotated[
        bool, typer.Option("--prune", help="Remove jobs that are gone from the project.")
    ] = False,
    replace_results: ReplaceOption = False,
    parallelism: TasksOption = None,
    timeout: TimeoutOption = 60.0,
    json: JsonOption = False,
) -> None:
    """Let the jobs that run become those of a project; again it changes nothing."""
    from penstock.jobs.upgrade_file import upgrading  # noqa: PLC0415
    from penstock.project.project import require_done  # noqa: PLC0415

    home = settings_of(context, directory.absolute()).home
    with (
        upgrading(home),
        project_of(context, directory, from_now, replace_results, parallelism, prune) as project,
    ):
        for name in project.settle():
            talk(f'the upgrade of job "{name}" that was cut short is finished')
        changes = project.plan()
        if not json:
            write_changes(changes, json=False)
        if not yes and _asks(changes):
            typer.confirm("do it?", abort=True, err=True)
        how = rebuild_of(timeout, replaces=replace_results)
        done = []
        for told in project.apply(changes, how):
            done.append(told)
            if not json:
                write_line(told)
    if json:
        told_of = [{"job": item.name, "verdict": item.does} for item in changes]
        write_json({"changes": told_of, "done": done})
    elif not done:
        write_line("nothing to be changed")
    require_done(changes)


def rebuild_of(seconds: float, *, replaces: bool = False, what: str = "upgraded") -> Rebuild:
    """Give how a version is built, with what is told meanwhile."""
    from penstock.jobs.takeover import Rebuild  # noqa: PLC0415

    def tell(progress: Progress) -> None:
        talk(f"  batch {progress.batch}: {progress.batch_rows} rows")

    return Rebuild(seconds=seconds, replaces=replaces, what=what, tell=tell, say=talk)


def spark_engine(home: Path) -> Engine:
    """Give what runs versions: Spark starts when one is run."""
    from penstock.spark.shadow.run import SparkEngine  # noqa: PLC0415

    return SparkEngine(home.absolute())


def _asks(changes: tuple[Change, ...]) -> bool:
    """Whether there is something to be asked, and somebody."""
    return sys.stdin.isatty() and any(change.drifts for change in changes)
