"""A Spark home without the zipped copy of PySpark.

Spark lets its Python workers import PySpark from a zip file of source text, which each of them
compiles anew: 0.3 s of processor time for every process, of which a query starts half a dozen.
Where that file is missing they take the installed package, the very same code, compiled.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark

_VARIABLE = "SPARK_HOME"
_PARTS = ("bin", "jars")


@contextmanager
def unzipped_home(directory: Path) -> Iterator[None]:
    """Let a JVM that is launched inside the block find such a home, unless the user has one."""
    package = Path(pyspark.__file__).parent
    if _VARIABLE in os.environ or not (package / "jars").is_dir():
        yield
        return
    directory.mkdir()
    for part in _PARTS:
        (directory / part).symlink_to(package / part)
    os.environ[_VARIABLE] = str(directory)
    try:
        yield
    finally:
        del os.environ[_VARIABLE]
