"""Lets Spark have its planners forked from one process instead of starting each anew.

There is no setting for it: Spark starts `PYTHON -m MODULE`. So its Python is a script of ours,
which leaves its environment in a file, writes the file's name into the server's pipe, and ends: a
script in Python took 14 ms of a processor for that, at every start of a query. Everything but a
planner it passes on, and Spark's own daemon, in the place of which it has ours: the setting for
that holds for tasks only.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
import sys
import threading
from pathlib import Path

from pyspark import SparkContext

from penstock.spark.planner.server import ASKED, PIPE, RUNNER

# Where the pipe is gone, or the environment cannot be told, a planner is started as Spark would.
_SCRIPT = """\
#!/bin/sh
if [ "$2" = {runner} ]; then
  umask 077
  if [ -p {pipe} ] && env -0 > {asked}$$ && echo $$ >> {pipe}; then exit 0; fi
fi
if [ "$2" = pyspark.daemon ]; then shift 2; exec {python} -m penstock.spark.daemon "$@"; fi
exec {python} "$@"
"""


class Planners:
    """The server of planners of one session, and the script that leads to it."""

    def __init__(self, folder: Path) -> None:
        self._script = folder / "python"
        self._pipe = folder / PIPE
        self._server: subprocess.Popen[bytes] | None = None
        if hasattr(os, "fork") and _made_pipe(self._pipe):
            # Open at both ends as long as this process lives: nobody waits for a reader.
            self._held = os.open(self._pipe, os.O_RDWR)
            self._write_script()
            self._server = _started(folder)
            threading.Thread(target=self._watch, name="penstock-planners", daemon=True).start()

    def lead(self, context: SparkContext) -> None:
        """Let Spark start Python by way of the script."""
        if self._server is not None:
            context.pythonExec = str(self._script)

    @property
    def pid(self) -> int | None:
        """The number of the server's process; none where planners are not forked."""
        return None if self._server is None else self._server.pid

    def close(self) -> None:
        """End the server; its planners end with their queries."""
        if self._server is not None:
            assert self._server.stdin is not None
            self._server.stdin.close()
            self._server.wait()
            os.close(self._held)

    def _watch(self) -> None:
        """Take the pipe away when the server has ended: from then on nobody asks it."""
        assert self._server is not None
        self._server.wait()
        with contextlib.suppress(OSError):
            self._pipe.unlink(missing_ok=True)

    def _write_script(self) -> None:
        words = {
            "runner": RUNNER,
            "python": sys.executable,
            "pipe": str(self._pipe),
            "asked": str(self._pipe.with_name(ASKED)),
        }
        quoted = {name: shlex.quote(word) for name, word in words.items()}
        self._script.write_text(_SCRIPT.format(**quoted), encoding="utf-8")
        self._script.chmod(0o700)


def _made_pipe(place: Path) -> bool:
    try:
        os.mkfifo(place, 0o600)
    except OSError:  # not every file system has them
        return False
    return True


def _started(folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "penstock.spark.planner.server", str(folder)]
    paths = os.pathsep.join(path for path in sys.path if path)
    # As Spark starts its own: the same hashes in every process.
    fixed = {"PYTHONHASHSEED": os.environ.get("PYTHONHASHSEED", "0"), "PYTHONPATH": paths}
    with (folder / "planners.txt").open("wb") as output:
        return subprocess.Popen(  # noqa: S603  # our own module, by the interpreter that runs this
            command,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            env={**os.environ, **fixed},
            # What is typed at the terminal is for the driver.
            start_new_session=True,
        )
