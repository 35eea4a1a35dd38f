"""A class-data archive: Spark's classes as the JVM has them in memory, mapped instead of parsed.

It is made once (`python -m penstock.spark.make_archive`) for a Java, the jars of a Spark and our
own, and kept in the home of that Spark in the user's cache. A session on this machine starts from
it where it is there. The JVM checks that it fits and is whole, and goes on without one that is not,
unless it is cut short, which ends the JVM: so the size is a part of the name.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from penstock.cache import cache_folder
from penstock.spark.home import HOMES, JARS
from penstock.spark.java import Java

TO_MAKE = "spark.penstock.archive"
"""The setting of a session whose JVM writes its classes into this file at its end."""
UNUSED_SECONDS = 30 * 24 * 3600.0
_ALL = "*.jsa"
_QUIET = ("-Xshare:auto", "-Xlog:cds*=off")
_CHECKED = "-XX:+VerifySharedSpaces"
# In a list of options, or of files, they would mean something else.
_NO_PART_OF_A_PATH = frozenset('":\\\n')


@dataclass(frozen=True, slots=True)
class Archive:
    """The archive of one class path, made or not: where it is, and what it is known by."""

    home: Path
    mark: str

    def found(self) -> Path | None:
        """Give its file where it is there and as long as it was."""
        for file in self.home.glob(f"{self.mark}-*.jsa"):
            # Another process may be removing it.
            with contextlib.suppress(OSError):
                if file.name == self._name(file):
                    return file
        return None

    def put(self, fresh: Path) -> None:
        """Keep what a JVM has written, in the place of what is there."""
        with fresh.open("rb") as written:
            os.fsync(written.fileno())
        for file in self.home.glob(f"{self.mark}-*.jsa"):
            file.unlink(missing_ok=True)
        fresh.rename(self.home / self._name(fresh))

    def _name(self, file: Path) -> str:
        return f"{self.mark}-{file.stat().st_size}.jsa"


def archive_of(home: Path, classes: Path, java: Java) -> Archive | None:
    """Give the archive of a Java, a Spark and our classes; None where there cannot be one."""
    if not classes.is_file() or _NO_PART_OF_A_PATH & set(str(home)):
        return None
    with contextlib.suppress(OSError):
        parts = (java.path.resolve(), classes, *sorted((home / JARS).iterdir()))
        facts = "\n".join((java.version, *map(_fact, parts)))
        return Archive(home, f"classes-{sha256(os.fsencode(facts)).hexdigest()[:16]}")
    return None


def options_to_use(archive: Archive | None) -> list[str]:
    """Give the options of a JVM that starts from an archive: none where it is not made."""
    file = None if archive is None else archive.found()
    if file is None:
        return []
    # Its time says when it was last of use.
    with contextlib.suppress(OSError):
        os.utime(file)
    return [f'"-XX:SharedArchiveFile={file}"', _CHECKED, *_QUIET]


def options_to_make(file: str) -> list[str]:
    """Give the options of a JVM that writes an archive at its end."""
    return [f'"-XX:ArchiveClassesAtExit={file}"', *_QUIET]


def remove_old(now: float | None = None) -> None:
    """Remove archives that nobody used for a month, and homes whose Spark is gone with theirs."""
    before = (time.time() if now is None else now) - UNUSED_SECONDS
    for home in cache_folder().glob(HOMES):
        if not (home / JARS).is_dir():
            shutil.rmtree(home, ignore_errors=True)
        for file in home.glob(_ALL):
            # Another process may be removing the same.
            with contextlib.suppress(OSError):
                if file.stat().st_mtime < before:
                    file.unlink()


def _fact(path: Path) -> str:
    """What the JVM, too, knows a file of the class path by."""
    known = path.stat()
    return f"{path} {known.st_size} {known.st_mtime_ns}"
