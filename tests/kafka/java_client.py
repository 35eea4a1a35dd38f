"""A client of Kafka in Java, compiled as it is run; where the machine has a compiler."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.kafka.cluster import Brokers, jars
from tests.kafka.tools import run_java

_SOURCE = Path(__file__).parent / "JavaClient.java"


def java_missing() -> str:
    """Say that Java cannot be compiled here; empty where it can."""
    return "" if shutil.which("javac") else "no javac"


def java_writes(brokers: Brokers, topic: str, lines: str) -> None:
    """Write lines of "key:value" in one transaction."""
    _java(brokers, "write", topic, stdin=lines)


def java_reads(brokers: Brokers, topic: str, count: int) -> list[str]:
    """Give so many committed records, as "key:value" in order of their text."""
    return sorted(_java(brokers, "read", topic, str(count)).splitlines())


def _java(brokers: Brokers, *words: str, stdin: str = "") -> str:
    return run_java("-cp", f"{jars()}/*", str(_SOURCE), brokers.address, *words, stdin=stdin)
