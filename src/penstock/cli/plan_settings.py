"""How a program is to run, as options say it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from penstock.model.physical import Settings

ParallelismOption = Annotated[
    int | None, typer.Option("--parallelism", min=1, help="Tasks at a time.")
]
BucketsOption = Annotated[
    int | None,
    typer.Option(
        "--buckets", min=1, help="Pieces that state is kept in, fixed at the first start."
    ),
]
FuseOption = Annotated[
    bool | None,
    typer.Option("--fuse/--no-fuse", help="Whether steps share the process of those before them."),
]


def plan_settings(parallelism: int | None, buckets: int | None, *, fuse: bool | None) -> Settings:
    """Give the settings with what was said in the place of the defaults."""
    from penstock.model.physical import Settings  # noqa: PLC0415  # only some commands need it

    usual = Settings()
    return replace(
        usual,
        parallelism=usual.parallelism if parallelism is None else parallelism,
        buckets=usual.buckets if buckets is None else buckets,
        fuse=usual.fuse if fuse is None else fuse,
    )
