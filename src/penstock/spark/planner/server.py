"""The process that planners are forked from, with what each needs loaded already.

Spark starts a process for every query, which plans its batches as long as it runs. Each spent half
a second on its imports and held 50 MB; forked from here they share both.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import socket
import sys
import threading
import traceback
from typing import Any

# A thread must not live through a fork; numpy starts some unless it is told that one will do.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

RUNNER = "pyspark.sql.streaming.python_streaming_source_runner"
_WAITING = 128


def serve(listening: socket.socket, owner: int) -> None:
    """Fork a planner for every call, until the owner closes its end of a pipe."""
    # Each is waited for, so that its time counts as that of the session.
    signal.signal(signal.SIGCHLD, _wait_for_ended)
    poll = select.poll()
    poll.register(owner, select.POLLIN)
    poll.register(listening, select.POLLIN)
    while True:
        ready = {number for number, _ in poll.poll()}
        if owner in ready and not os.read(owner, 1):
            return
        if listening.fileno() in ready:
            with contextlib.suppress(OSError, ValueError):
                _answer(listening)


def _wait_for_ended(*_: object) -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _answer(listening: socket.socket) -> None:
    connection, _ = listening.accept()
    with connection:
        told = json.loads(_all_of(connection))
        if os.fork():
            connection.sendall(b"\n")
            return
    listening.close()
    _plan(told)


def _all_of(connection: socket.socket) -> bytes:
    connection.settimeout(1)
    parts = []
    while part := connection.recv(65536):
        parts.append(part)
    return b"".join(parts)


def _plan(told: dict[str, Any]) -> None:
    """Do in a forked process what Spark's own planner does in one of its own."""
    code = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        with open(os.devnull, "rb") as nothing:  # noqa: PTH123
            os.dup2(nothing.fileno(), 0)
        os.environ.clear()
        os.environ.update(told["environment"])
        os.chdir(told["folder"])
        known = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        sys.path += [place for place in known if place and place not in sys.path]
        _run()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:  # noqa: BLE001  # nothing may run on in a fork of the server
        traceback.print_exc()
    finally:
        os._exit(code & 0xFF)


def _run() -> None:
    from pyspark.serializers import write_int  # noqa: PLC0415
    from pyspark.sql.streaming.python_streaming_source_runner import main  # noqa: PLC0415
    from pyspark.util import local_connect_and_auth  # noqa: PLC0415

    path = os.environ.get("PYTHON_WORKER_FACTORY_SOCK_PATH")
    place = path or int(os.environ["PYTHON_WORKER_FACTORY_PORT"])
    files, connection = local_connect_and_auth(
        place, os.environ.get("PYTHON_WORKER_FACTORY_SECRET")
    )
    connection.settimeout(None)
    write_int(os.getpid(), files)  # type: ignore[no-untyped-call]
    files.flush()
    threading.Thread(target=_end_with, args=(connection,), daemon=True).start()
    main(files, files)


def _end_with(connection: socket.socket) -> None:
    """End this process when Spark hangs up, also while it waits for an append."""
    hung_up = getattr(select, "POLLRDHUP", None)
    if hung_up is not None:
        poll = select.poll()
        poll.register(connection, hung_up)
        poll.poll()
        os._exit(0)


def _load() -> None:
    import pyarrow.compute  # noqa: F401, PLC0415
    import pyspark.sql.streaming.python_streaming_source_runner  # noqa: F401, PLC0415

    import penstock.log.open  # noqa: PLC0415
    import penstock.spark.format  # noqa: PLC0415
    import penstock.spark.handle  # noqa: PLC0415
    import penstock.spark.program_format  # noqa: PLC0415
    import penstock.spark.program_source  # noqa: PLC0415
    import penstock.spark.source  # noqa: F401, PLC0415


def main(place: str) -> None:
    """Listen at a place of the file system; who started this holds the other end of its input."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind(place)
        # Before the imports, so that nobody finds the door closed; they wait in front of it.
        listening.listen(_WAITING)
        _load()
        gc.freeze()
        serve(listening, sys.stdin.fileno())


if __name__ == "__main__":
    main(sys.argv[1])
