"""A job on the command line: its name, or the id of one of its runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.options import settings_of
from penstock.errors import PenstockError

if TYPE_CHECKING:
    from pathlib import Path


def home_of(context: typer.Context) -> Path:
    """Give the home whose jobs a command is about."""
    return settings_of(context).home


def complete_job(ctx: typer.Context, incomplete: str) -> list[str]:
    """Complete a job's name or a run's id."""
    from penstock.jobs.named import names  # noqa: PLC0415  # only these commands need it

    try:
        found = names(home_of(ctx))
    except (OSError, PenstockError):
        # There is nobody to tell during completion; the command itself will say what is wrong.
        return []
    return [name for name in found if name.startswith(incomplete)]


JobArgument = Annotated[
    str,
    typer.Argument(
        metavar="JOB", help="A job's name, or the id of a run.", autocompletion=complete_job
    ),
]
TimeoutOption = Annotated[
    float, typer.Option("--timeout", min=0, metavar="SECONDS", help="How long to wait.")
]
WaitOption = Annotated[
    bool, typer.Option("--wait/--no-wait", help="Whether to wait until it has ended.")
]
