"""Which Python runs where: Spark knows one path for the driver and for all executors.

Data sources in Python are asked by the driver and read by executors, and Spark starts both by one
name. So it is given a name without a folder. In the driver's PATH that name leads to the script
of `spark.planner.forking`, in that of the executors to the interpreter there.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from pyspark import SparkContext

_USUAL = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_PATH = "spark.executorEnv.PATH"
_FOLDER = "bin"


def python_settings(python: str, said: Mapping[str, str]) -> dict[str, str]:
    """Give the settings by which executors find an interpreter by its name alone."""
    place = PurePosixPath(python or sys.executable)
    if str(place.parent) == "." and "/" not in python:
        return {}
    # A path may begin where an executor does, as that of an archive that Spark unpacks.
    return {_PATH: f"{place.parent}:{said.get(_PATH, _USUAL)}"}


@contextmanager
def drivers_python(scratch: Path) -> Iterator[None]:
    """Let a JVM that is launched inside the block look for programs in a folder of ours first."""
    before = os.environ.get("PATH", _USUAL)
    os.environ["PATH"] = f"{scratch / _FOLDER}{os.pathsep}{before}"
    try:
        yield
    finally:
        os.environ["PATH"] = before


def lead_by_name(context: SparkContext, python: str, scratch: Path) -> None:
    """Let Spark start Python by its name, which in this process leads to what it starts now."""
    name = PurePosixPath(python or sys.executable).name
    folder = scratch / _FOLDER
    folder.mkdir(exist_ok=True)
    script = folder / name
    script.write_text(f'#!/bin/sh\nexec "{context.pythonExec}" "$@"\n', encoding="utf-8")
    script.chmod(0o700)
    context.pythonExec = name
