"""The process that planners are forked from, with what each needs loaded already.

Spark starts a process for every query, which plans its batches as long as it runs. Each spent half
a second on its imports and held 50 MB; forked from here they share both.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Mapping
from pathlib import Path

# A thread must not live through a fork; numpy starts some unless it is told that one will do.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

RUNNER = "pyspark.sql.streaming.python_streaming_source_runner"
PIPE = "planners"
"""The pipe that names are written to, a line each, in the folder of the session."""
ASKED = "asked-"
"""How the file is called, before that name, that has the environment of the planner asked for."""
_READ_BYTES = 4096


def serve(folder: Path, asking: int, owner: int) -> None:
    """Fork a planner for every name, until the owner closes its end of a pipe."""
    # Each is waited for, so that its time counts as that of the session.
    signal.signal(signal.SIGCHLD, _wait_for_ended)
    poll = select.poll()
    poll.register(owner, select.POLLIN)
    poll.register(asking, select.POLLIN)
    heard = b""
    while True:
        ready = {number for number, _ in poll.poll()}
        if owner in ready and not os.read(owner, 1):
            return
        if asking in ready:
            heard += os.read(asking, _READ_BYTES)
            *names, heard = heard.split(b"\n")
            for name in names:
                with contextlib.suppress(OSError, ValueError):
                    _answer(folder / f"{ASKED}{int(name)}")


def _wait_for_ended(*_: object) -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _answer(asked: Path) -> None:
    # How to call Spark, and its password, are in the environment.
    told = asked.read_bytes()
    asked.unlink()
    pairs = (os.fsdecode(item).partition("=") for item in told.split(b"\0") if item)
    environment = {name: value for name, _, value in pairs}
    if not os.fork():
        _plan(environment)


def _plan(environment: Mapping[str, str]) -> None:
    """Do in a forked process what Spark's own planner does in one of its own."""
    code = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        with open(os.devnull, "rb") as nothing:  # noqa: PTH123
            os.dup2(nothing.fileno(), 0)
        os.environ.clear()
        os.environ.update(environment)
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


def main(folder: str) -> None:
    """Serve a session in its folder; who started this holds the other end of its input."""
    place = Path(folder)
    # At both ends: a pipe whose writers have all gone would be ready without end.
    asking = os.open(place / PIPE, os.O_RDWR)
    _load()
    gc.freeze()
    serve(place, asking, sys.stdin.fileno())


if __name__ == "__main__":
    main(sys.argv[1])
