"""The log that a command works on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

import typer

from penstock.cli.options import settings_of
from penstock.errors import LogError

if TYPE_CHECKING:
    from penstock.config import Settings
    from penstock.log.embedded.log import EmbeddedLog


@contextmanager
def opened_log(context: typer.Context, *, create: bool = False) -> Iterator[EmbeddedLog]:
    """Open the log for the length of a with block; one that is not there is made only if asked."""
    settings = settings_of(context)
    if settings.server:
        with _served_log(settings) as served:
            yield served
        return
    if not create and not log_exists(context):
        raise LogError(
            "LOG_MISSING",
            f'there is no log in "{settings.home}"',
            hint="Create a topic first (penstock topics create NAME), or name the log's directory"
            " with --home.",
        )
    from penstock.log.open import open_log  # noqa: PLC0415  # numpy and Arrow: 0.1 s

    with open_log(settings.home) as log:
        yield log


def log_exists(context: typer.Context) -> bool:
    """Whether there is a log to open, or at least something in its place to complain about."""
    if settings_of(context).server:
        return True
    from penstock.log.kafka.home import is_elsewhere  # noqa: PLC0415  # after the quick answer

    settings = settings_of(context)
    if settings.log.startswith("kafka://") or is_elsewhere(settings.home):
        return True
    try:
        settings.log_directory.lstat()
    except FileNotFoundError:
        return False
    except OSError:
        # Not for us to judge: opening it says what is wrong.
        return True
    return True


@contextmanager
def _served_log(settings: Settings) -> Iterator[EmbeddedLog]:
    from penstock.log.remote.web_log import served_log  # noqa: PLC0415  # WebSockets: 0.1 s

    with served_log(settings.server, settings) as log:
        # It has all that commands ask, and refuses what only files can answer.
        yield cast("EmbeddedLog", log)
