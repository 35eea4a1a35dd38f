"""Servers of a log: in this process, or in one of their own that can be killed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from penstock.log.embedded.home import open_home
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.remote.client import RemoteLog
from penstock.log.remote.server import LogServer

_SERVE = """
import sys
from pathlib import Path
from penstock.log.remote.server import serve_log

serve_log(
    Path(sys.argv[1]), port=int(sys.argv[2]), on_ready=lambda node: print(node.address, flush=True)
)
"""


@dataclass(frozen=True)
class Served:
    """A log in this process, its server, and a client of it."""

    home: Path
    embedded: EmbeddedLog
    server: LogServer
    log: RemoteLog


@contextmanager
def served(home: Path) -> Iterator[Served]:
    """Offer a home's log for the length of a with block."""
    with (
        open_home(home) as embedded,
        LogServer(embedded, home) as server,
        RemoteLog(server.info.address, home=home) as log,
    ):
        yield Served(home, embedded, server, log)


class ServerProcess:
    """A server in a process of its own."""

    def __init__(self, home: Path, port: int = 0) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", _SERVE, str(home), str(port)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()
        assert self.address.startswith("tcp://")

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    def kill(self) -> None:
        """Kill it without a chance to say anything."""
        self.process.kill()
        self.process.wait()


@contextmanager
def server_process(home: Path, port: int = 0) -> Iterator[ServerProcess]:
    """Serve from another process for the length of a with block."""
    server = ServerProcess(home, port)
    try:
        yield server
    finally:
        server.kill()
        assert server.process.stdout is not None
        server.process.stdout.close()
