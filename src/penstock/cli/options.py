"""Parameters that commands share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from penstock.config import (
    DRIVER_MEMORY,
    HOME,
    KEYS,
    MASTER,
    REGISTRY_URL,
    Settings,
    load_settings,
)
from penstock.errors import PenstockError


def settings_of(context: typer.Context, directory: Path | None = None) -> Settings:
    """Give the settings in force, here or in a directory, the flags of this command line first."""
    given = context.find_root().params
    names = {key.name: key.flag.removeprefix("--").replace("-", "_") for key in KEYS}
    flags = {key: given[name] for key, name in names.items() if given.get(name)}
    settings = load_settings(flags, directory=directory)
    if HOME.name in flags and settings.log.startswith("kafka://"):
        from penstock.log.kafka.home import bind_home  # noqa: PLC0415  # few need it

        # Nobody below the command line knows the flag: the home itself has to tell.
        bind_home(settings)
    return settings


@contextmanager
def exported_flags(context: typer.Context) -> Iterator[None]:
    """Let a program that this process loads find what the flags say, as it finds variables."""
    given = context.find_root().params
    passed_on = (HOME, REGISTRY_URL, MASTER, DRIVER_MEMORY)
    found = {key: given.get(key.flag.removeprefix("--").replace("-", "_")) for key in passed_on}
    flags = {key.variable: str(value) for key, value in found.items() if value}
    before = {name: os.environ.get(name) for name in flags}
    os.environ.update(flags)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def complete_topic(ctx: typer.Context, incomplete: str) -> list[str]:
    """Complete a topic's name from the directories of the log, without opening it."""
    try:
        topics = settings_of(ctx).log_directory / "topics"
        names = sorted(entry.name for entry in topics.iterdir() if entry.is_dir())
    except (OSError, PenstockError):
        # There is nobody to tell during completion; the command itself will say what is wrong.
        return []
    shown = [name for name in names if not name.startswith(".")]
    return [name for name in shown if name.startswith(incomplete)]


JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
TopicArgument = Annotated[
    str, typer.Argument(metavar="TOPIC", help="A topic's name.", autocompletion=complete_topic)
]
