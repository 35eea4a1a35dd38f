"""Lets Spark have its planners forked from one process instead of starting each anew.

There is no setting for it: Spark starts `PYTHON -m MODULE`. So its Python is a script of ours,
which passes on everything but a planner, and Spark's own daemon, in the place of which it has ours:
the setting for that holds for tasks only.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

from pyspark import SparkContext

from penstock.spark.planner import ask as planner_ask
from penstock.spark.planner.server import RUNNER

_SCRIPT = """\
#!/bin/sh
if [ "$2" = {runner} ]; then exec {python} -I -S {ask} {place} {python} "$@"; fi
if [ "$2" = pyspark.daemon ]; then shift 2; exec {python} -m penstock.spark.daemon "$@"; fi
exec {python} "$@"
"""
# The address of a Unix socket has room for 104 bytes on some systems, 108 on others.
_LONGEST = 100


class Planners:
    """The server of planners of one session, and the script that leads to it."""

    def __init__(self, folder: Path) -> None:
        self._script = folder / "python"
        place = folder / "planners"
        self._server: subprocess.Popen[bytes] | None = None
        if hasattr(os, "fork") and len(str(place).encode()) <= _LONGEST:
            self._write_script(place)
            self._server = _started(place, folder / "planners.txt")

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

    def _write_script(self, place: Path) -> None:
        words = {
            "runner": RUNNER,
            "python": sys.executable,
            "ask": planner_ask.__file__,
            "place": str(place),
        }
        quoted = {name: shlex.quote(word) for name, word in words.items()}
        self._script.write_text(_SCRIPT.format(**quoted), encoding="utf-8")
        self._script.chmod(0o700)


def _started(place: Path, words: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "penstock.spark.planner.server", str(place)]
    paths = os.pathsep.join(path for path in sys.path if path)
    # As Spark starts its own: the same hashes in every process.
    fixed = {"PYTHONHASHSEED": os.environ.get("PYTHONHASHSEED", "0"), "PYTHONPATH": paths}
    with words.open("wb") as output:
        return subprocess.Popen(  # noqa: S603  # our own module, by the interpreter that runs this
            command,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            env={**os.environ, **fixed},
            # What is typed at the terminal is for the driver.
            start_new_session=True,
        )
