"""`penstock rollback`: a job goes back to a version that it was."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from penstock.cli.apply_command import TimeoutOption, YesOption, rebuild_of, spark_engine
from penstock.cli.options import JsonOption, settings_of
from penstock.cli.output import examples, talk, write_json, write_line
from penstock.cli.plan_command import FromNowOption


def register(application: typer.Typer) -> None:
    """Add the command of this file."""
    application.command(
        "rollback",
        epilog=examples("penstock rollback shop", "penstock rollback shop --to 3 --yes"),
    )(rollback)


def rollback(  # noqa: PLR0913  # each parameter is an option
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="JOB", help="A job's name.")],
    *,
    to: Annotated[
        int | None, typer.Option("--to", min=1, help="The version; by default the one before.")
    ] = None,
    from_now: FromNowOption = False,
    yes: YesOption = False,
    timeout: TimeoutOption = 60.0,
    json: JsonOption = False,
) -> None:
    """Let a job be an earlier version, which keeps its state or is built from the log."""
    from penstock.jobs.definitions import definition_store  # noqa: PLC0415
    from penstock.jobs.rollback import earlier_version  # noqa: PLC0415
    from penstock.jobs.upgrade import Choice, judge, settle, upgrade  # noqa: PLC0415
    from penstock.jobs.upgrade_file import upgrading  # noqa: PLC0415

    home = settings_of(context).home.absolute()
    with upgrading(home):
        settle(home, name)
        version, physical = earlier_version(home, name, to)
        engine = spark_engine(home)
        settings = definition_store(home).get(name).settings
        found = judge(home, name, physical, settings, engine, Choice(from_now))
        talk(f'job "{name}" back to version {version}: {found.kind}, {found.reason}')
        if not yes and sys.stdin.isatty():
            typer.confirm("do it?", abort=True, err=True)
        how = rebuild_of(timeout, what="rolled back")
        done = upgrade(home, name, physical, found, engine, how)
    if json:
        told = {"job": name, "version": done.version, "program": version}
        write_json(told | {"verdict": found.kind, "reason": found.reason})
        return
    write_line(f'job "{name}" is version {done.version} now, with the program of {version}')
