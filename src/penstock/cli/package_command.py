"""`penstock package`: Penstock as an archive for the executors of a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.options import JsonOption
from penstock.cli.output import examples, write_json, write_line


def register(application: typer.Typer) -> None:
    """Add the command of this file."""
    application.command(
        "package",
        epilog=examples("penstock package", "penstock package --to /shared/penstock"),
    )(package)


def package(
    to: Annotated[Path, typer.Option("--to", help="The folder to write it to.")] = Path(),
    json: JsonOption = False,
) -> None:
    """Write Penstock as an archive that executors import it from."""
    # Only this command needs it.
    from penstock.spark.cluster.package import build_package  # noqa: PLC0415

    archive = build_package(to)
    if json:
        write_json({"archive": str(archive), "bytes": archive.stat().st_size})
    else:
        write_line(str(archive))
