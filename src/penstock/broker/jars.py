"""The jars that a broker of Apache Kafka is made of: which they are, and whether they are there.

`jars.lock` pins each by its coordinates and its checksum. A folder is complete when it holds every
one of them, byte for byte.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from penstock.cache import cache_folder
from penstock.config import Settings

KAFKA_VERSION = "4.1.1"
_LOCK = Path(__file__).with_name("jars.lock")


@dataclass(frozen=True, slots=True)
class Jar:
    """A library of Java by its coordinates, and the checksum of its file."""

    group: str
    name: str
    version: str
    sha256: str

    @property
    def file_name(self) -> str:
        """The name of its file in a folder of jars."""
        return f"{self.name}-{self.version}.jar"


@dataclass(frozen=True, slots=True)
class Inventory:
    """What a folder of jars lacks, and what in it is not what it should be."""

    missing: tuple[str, ...]
    damaged: tuple[str, ...]

    @property
    def complete(self) -> bool:
        """Whether a broker can be started from the folder."""
        return not self.missing and not self.damaged


def needed_jars() -> tuple[Jar, ...]:
    """Give every jar of a broker and of Kafka's own tools."""
    return tuple(_jar(line) for line in _LOCK.read_text(encoding="utf-8").splitlines() if line)


def jars_folder(settings: Settings, environment: Mapping[str, str] | None = None) -> Path:
    """Give where the jars are kept: as a setting says, or in the user's cache, for all projects."""
    if settings.broker_jars is not None:
        return settings.broker_jars
    return cache_folder(environment) / f"kafka-{KAFKA_VERSION}"


def take_stock(folder: Path, jars: Iterable[Jar] | None = None) -> Inventory:
    """Look at every jar of a folder, a broker's unless others are named: 50 ms for all of those."""
    missing, damaged = [], []
    for jar in needed_jars() if jars is None else jars:
        try:
            found = checksum(folder / jar.file_name)
        except OSError:
            missing.append(jar.file_name)
            continue
        if found != jar.sha256:
            damaged.append(jar.file_name)
    return Inventory(tuple(missing), tuple(damaged))


def checksum(file: Path) -> str:
    """Give the SHA-256 of a file, in hexadecimal."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _jar(line: str) -> Jar:
    coordinates, sha256 = line.split()
    group, name, version = coordinates.split(":")
    return Jar(group, name, version, sha256)
