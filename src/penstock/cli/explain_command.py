"""`penstock explain`: what a program means, what becomes of it, and where it runs."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.options import JsonOption, exported_flags, settings_of
from penstock.cli.output import examples, write_json, write_line
from penstock.cli.plan_settings import (
    BucketsOption,
    FuseOption,
    ParallelismOption,
    plan_settings,
)
from penstock.cli.program_file import ProgramArgument
from penstock.project.program_file import load_program

if TYPE_CHECKING:
    from penstock.plan.explain import Running


class StageName(StrEnum):
    """The stages that can be asked for."""

    MODEL = "model"
    LOGICAL = "logical"
    PHYSICAL = "physical"
    WATERMARK = "watermark"
    STATE = "state"
    SPARK = "spark"
    ALL = "all"


def register(application: typer.Typer) -> None:
    """Add the command of this file."""
    application.command(
        "explain",
        epilog=examples(
            "penstock explain shop.py",
            "penstock explain shop.py:app --stage physical --parallelism 4",
            "penstock explain shop.py --stage watermark --job shop-1",
        ),
    )(explain)


def explain(  # noqa: PLR0913  # each parameter is an option
    context: typer.Context,
    program: ProgramArgument,
    *,
    stage: Annotated[
        StageName, typer.Option("--stage", help="One stage of the way, or all.")
    ] = StageName.ALL,
    job: Annotated[
        str | None,
        typer.Option(
            "--job", metavar="JOB", help="A job of this program: its processes and how far it is."
        ),
    ] = None,
    parallelism: ParallelismOption = None,
    buckets: BucketsOption = None,
    fuse: FuseOption = None,
    json: JsonOption = False,
) -> None:
    """Show what a program means, what the rules make of it, where it runs and why."""
    from penstock.plan.explain import Running, stages_text  # noqa: PLC0415

    settings = plan_settings(parallelism, buckets, fuse=fuse)
    running = Running() if job is None else _running(context, job)
    with exported_flags(context):
        written = load_program(program).bound()
    texts = stages_text(written, settings, stage.value, running=running)
    if json:
        write_json({name: text.splitlines() for name, text in texts.items()})
    else:
        write_line("\n\n".join(texts.values()))


def _running(context: typer.Context, name: str) -> Running:
    from penstock.jobs.running import running_of  # noqa: PLC0415

    return running_of(settings_of(context).home, name)
