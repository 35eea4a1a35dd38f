"""A Spark home without the zipped copy of PySpark, at the same place for every session.

Spark lets its Python workers import PySpark from a zip file of source text, which each of them
compiles anew: 0.3 s of processor time for every process, of which a query starts half a dozen.
Where that file is missing they take the installed package, the very same code, compiled.

The home is in the user's cache: the class path of the JVM leads through it, and a class-data
archive (`spark.jvm.archive`) is good for one class path.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import pyspark

from penstock.cache import cache_folder

HOMES = "spark-home-*"
"""How the homes in the cache are called: one for each installed PySpark."""
JARS = "jars"
_VARIABLE = "SPARK_HOME"
_PARTS = ("bin", JARS)


def stable_home() -> Path | None:
    """Give the home that all sessions of this user share; None where there cannot be one."""
    package = Path(pyspark.__file__).absolute().parent
    if _VARIABLE in os.environ or not (package / JARS).is_dir():
        return None
    mark = sha256(os.fsencode(package)).hexdigest()[:16]
    home = cache_folder() / HOMES.replace("*", mark)
    with contextlib.suppress(OSError):
        home.mkdir(parents=True, exist_ok=True)
        _link(home, package)
        if home.stat().st_uid == os.getuid() and _leads_to(home, package):
            return home
    return None


@contextmanager
def unzipped_home(directory: Path) -> Iterator[None]:
    """Let a JVM that is launched inside the block find such a home, unless the user has one."""
    package = Path(pyspark.__file__).parent
    if _VARIABLE in os.environ or not (package / JARS).is_dir():
        yield
        return
    directory.mkdir(exist_ok=True)
    _link(directory, package)
    os.environ[_VARIABLE] = str(directory)
    try:
        yield
    finally:
        del os.environ[_VARIABLE]


def _link(home: Path, package: Path) -> None:
    for part in _PARTS:
        # It is there already, or another process was quicker.
        with contextlib.suppress(FileExistsError):
            (home / part).symlink_to(package / part)


def _leads_to(home: Path, package: Path) -> bool:
    return all((home / part).samefile(package / part) for part in _PARTS)
