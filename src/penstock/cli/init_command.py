"""`penstock init`: a new project that already runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.output import examples, talk, write_line


def register(application: typer.Typer) -> None:
    """Add the command of this file."""
    application.command("init", epilog=examples("penstock init shop", "penstock init"))(init)


def init(
    directory: Annotated[
        Path, typer.Argument(metavar="DIRECTORY", help="Where; by default where you are.")
    ] = Path(),
) -> None:
    """Make a project that already runs: SQL, a program with its test, a dashboard, settings."""
    from penstock.project.template import make_project  # noqa: PLC0415  # only this command

    for place in make_project(directory):
        write_line(str(directory / place))
    here = directory.resolve() == Path.cwd()
    talk(f"next: {'' if here else f'cd {directory} && '}penstock dev")
