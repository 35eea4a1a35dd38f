"""What Spark starts in place of a planner: it asks the server of planners to fork one, and ends.

Run as a file by a bare interpreter, so that it imports next to nothing: it must not import this
package. Where no server answers, the planner is started as Spark would have.
"""

from __future__ import annotations

import json
import os
import socket
import sys

_SECONDS = 9
"""Spark waits 10 for a planner to call."""


def main(server: str, python: str, arguments: list[str]) -> None:
    """Have a planner forked, or become one."""
    try:
        _ask(server)
    except OSError:
        os.execv(python, [python, *arguments])  # noqa: S606


def _ask(server: str) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(_SECONDS)
        connection.connect(server)
        # How to call Spark, and its password, are in the environment.
        told = {"environment": dict(os.environ), "folder": os.getcwd()}  # noqa: PTH109
        connection.sendall(json.dumps(told).encode())
        connection.shutdown(socket.SHUT_WR)
        if not connection.recv(1):
            raise ConnectionResetError


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
