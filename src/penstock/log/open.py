"""Opening a log by its address: a directory, or a server that offers one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, overload

from penstock.clock import SYSTEM_CLOCK, Clock
from penstock.log.embedded.home import home_directory, open_home
from penstock.log.embedded.log import EmbeddedLog

if TYPE_CHECKING:
    from penstock.log.remote.client import RemoteLog

_SERVER = "tcp://"


@overload
def open_log(home: Path | None = None, *, clock: Clock = SYSTEM_CLOCK) -> EmbeddedLog: ...


@overload
def open_log(home: str, *, clock: Clock = SYSTEM_CLOCK) -> EmbeddedLog | RemoteLog: ...


def open_log(
    home: Path | str | None = None, *, clock: Clock = SYSTEM_CLOCK
) -> EmbeddedLog | RemoteLog:
    """Open the log of a home directory, making it where there is none.

    Without a home it is `PENSTOCK_HOME`, by default `.penstock` in the working directory.
    `tcp://127.0.0.1:PORT` is the log that a server offers (`penstock log serve`).
    """
    if isinstance(home, str) and home.startswith(_SERVER):
        from penstock.log.remote.client import RemoteLog  # noqa: PLC0415  # few need sockets

        return RemoteLog(home)
    return open_home(home_directory(home), clock=clock)
