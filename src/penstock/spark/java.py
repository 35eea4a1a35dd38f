"""Finds the Java that Spark would start, without starting Spark."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from penstock.errors import SetupError

MINIMUM_JAVA = 17

_VERSION = re.compile(r'version "([^"]+)"')
_INSTALL = (
    f"Install Java {MINIMUM_JAVA} or newer (Debian and Ubuntu: apt install openjdk-17-jre-headless;"
    " Fedora: dnf install java-21-openjdk-headless; macOS: brew install openjdk@17)"
)


@dataclass(frozen=True, slots=True)
class Java:
    """A Java that answered: where it is, its feature version, and the version it printed."""

    path: Path
    feature: int
    version: str


def require_java(environment: Mapping[str, str] | None = None, *, need: str = "Spark") -> Java:
    """Give the Java that Spark would take, or say what to install; every Spark command asks."""
    variables = os.environ if environment is None else environment
    path = _java_path(variables, need)
    version = _version(path, variables)
    feature = _feature(version)
    if feature < MINIMUM_JAVA:
        raise SetupError(
            "JAVA_TOO_OLD",
            f'{need} needs Java {MINIMUM_JAVA} or newer; "{path}" is version {version}',
            hint=f"{_INSTALL}, and let JAVA_HOME or PATH lead to it.",
        )
    return Java(path, feature, version)


def _java_path(variables: Mapping[str, str], need: str) -> Path:
    home = variables.get("JAVA_HOME")
    if home:
        path = Path(home) / "bin" / "java"
        # Spark's launcher does not look any further once JAVA_HOME is set, so neither do we.
        if not os.access(path, os.X_OK):
            raise SetupError(
                "JAVA_MISSING",
                f'{need} needs Java, and JAVA_HOME="{home}" has no bin/java',
                hint="Let JAVA_HOME lead to a Java, or unset it to use the one on PATH.",
            )
        return path
    found = shutil.which("java", path=variables.get("PATH", ""))
    if found is None:
        raise SetupError(
            "JAVA_MISSING",
            f"{need} needs Java, and neither JAVA_HOME nor PATH leads to one",
            hint=f"{_INSTALL}.",
        )
    return Path(found)


def _version(path: Path, variables: Mapping[str, str]) -> str:
    try:
        answer = subprocess.run(  # noqa: S603  # the very program that Spark would run
            [path, "-version"],
            capture_output=True,
            check=False,
            env=dict(variables),
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=60,
        )
        said = answer.stderr + answer.stdout
    except (OSError, subprocess.TimeoutExpired) as error:
        said = str(error)
    match = _VERSION.search(said)
    if match is None:
        raise SetupError(
            "JAVA_BROKEN",
            f'"{path} -version" names no version: {said.strip()[:200]!r}',
            hint=f"{_INSTALL}.",
        )
    return match[1]


def _feature(version: str) -> int:
    numbers = [int(digits) for digits in re.findall(r"\d+", version)] or [0]
    # Up to Java 8 the version began with "1.": "1.8.0_402" is Java 8.
    return numbers[1] if numbers[0] == 1 and len(numbers) > 1 else numbers[0]
