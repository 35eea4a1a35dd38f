"""PyFlink, where a Python that has it is named: a thing beside us that we do not depend on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PYTHON = "PENSTOCK_BENCH_FLINK"
"""The variable that names a Python into which `apache-flink` was installed."""
_JOB = Path(__file__).with_name("flink_job.py")
_PATIENCE = 600


@dataclass(frozen=True, slots=True)
class Flink:
    """A Python with PyFlink, and its version."""

    python: str
    version: str

    def seconds(self, job: str, rows: int, runs: int, folder: Path) -> list[float]:
        """Give the seconds that a job takes for so many rows of a stream, run by run."""
        command = [self.python, str(_JOB), job, str(rows), str(runs), str(folder)]
        found: list[float] = _answer(command)
        return found


def flink_here() -> Flink | None:
    """Give PyFlink if the variable names a Python that has it; else say that it is left out."""
    python = os.environ.get(PYTHON)
    if not python:
        print(f"PyFlink is left out: {PYTHON} names no Python that has it.", file=sys.stderr)
        return None
    ask = "import json, pyflink.version as v; print(json.dumps(v.__version__))"
    return Flink(python, _answer([python, "-c", ask]))


def _answer(command: list[str]) -> Any:  # noqa: ANN401  # whatever JSON holds
    """Give the last line that a command prints, as JSON."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_PATIENCE)
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[-1:]
        message = f"{command[0]} ended with {done.returncode}: {' '.join(last)}"
        raise RuntimeError(message)
    return json.loads(done.stdout.strip().splitlines()[-1])
