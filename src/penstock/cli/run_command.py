"""`penstock run`: a program in a file, run until it ends or is stopped."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.options import exported_flags, settings_of
from penstock.cli.output import examples
from penstock.cli.plan_settings import (
    BucketsOption,
    FuseOption,
    ParallelismOption,
    plan_settings,
)
from penstock.cli.program_file import ProgramArgument
from penstock.project.program_file import load_program


def register(application: typer.Typer) -> None:
    """Add the command of this file."""
    application.command(
        "run",
        epilog=examples(
            "penstock run shop.py",
            "penstock run shop.py:app --bounded",
            "penstock run shop.py --parallelism 4 --checkpoint /data/shop",
            "penstock run views.py --application shop",
            "penstock run views.py --rebuild",
            "penstock run views.py --restart",
            "penstock run views.py --here --store changelog",
        ),
    )(run)


def run(  # noqa: PLR0913  # each parameter is an option
    context: typer.Context,
    program: ProgramArgument,
    *,
    bounded: Annotated[
        bool,
        typer.Option(
            "--bounded",
            help="Take what the topics hold now, close every window, end; files always end.",
        ),
    ] = False,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            "--checkpoint", metavar="DIRECTORY", help="Where it remembers how far it came."
        ),
    ] = None,
    application: Annotated[
        str,
        typer.Option(
            "--application", metavar="NAME", help="What its jobs and those of others are part of."
        ),
    ] = "",
    rebuild: Annotated[
        bool,
        typer.Option("--rebuild", help="Drop its state and results, and make them from the log."),
    ] = False,
    restart: Annotated[
        bool,
        typer.Option("--restart", help="Start it again where it fails, as its settings say."),
    ] = False,
    here: Annotated[
        bool,
        typer.Option("--here", help="In this process, an event at a time and without Spark."),
    ] = False,
    parallelism: ParallelismOption = None,
    buckets: BucketsOption = None,
    fuse: FuseOption = None,
) -> None:
    """Run a program until its input ends, `penstock jobs stop` or Ctrl-C."""
    how = plan_settings(parallelism, buckets, fuse=fuse)
    chosen = settings_of(context)
    if here:
        from penstock.inline.run import InlineOptions  # noqa: PLC0415  # only --here needs it

        options = InlineOptions(
            state=chosen.state_store,
            database=chosen.state_database,
            until="end" if bounded else "stopped",
            rebuild=rebuild,
        )
        with exported_flags(context):
            load_program(program).run_here(
                home=chosen.home, checkpoint=checkpoint, options=options, settings=how
            )
        return
    with exported_flags(context):
        load_program(program).run(
            home=chosen.home,
            checkpoint=checkpoint,
            bounded=bounded or None,
            settings=how,
            application=application,
            rebuild=rebuild,
            restart=restart,
        )
