"""A server in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def served(home: Path, project: Path, *flags: str) -> Iterator[str]:
    """Serve a home by a process of its own, and give its address."""
    command = [sys.executable, "-m", "penstock", "serve", "--port=0", "--json", *flags]
    with subprocess.Popen(
        [*command, f"--home={home}"],
        cwd=project,
        # Where there are jobs: compiled lightly, Spark is there seconds earlier.
        env={**os.environ, "JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line, "the server did not start"
            yield str(json.loads(line)["url"])
        finally:
            process.terminate()
            process.wait(60)
