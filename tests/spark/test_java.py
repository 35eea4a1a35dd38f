from __future__ import annotations

from pathlib import Path

import pytest

from penstock.errors import SetupError
from penstock.spark.java import require_java


def a_java(folder: Path, answer: str, code: int = 0) -> Path:
    """Make a `java` that says what a real one of that version says."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "java"
    path.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{answer}\nEND\nexit {code}\n")
    path.chmod(0o755)
    return path


def on_path(*folders: Path) -> dict[str, str]:
    return {"PATH": ":".join([*map(str, folders), "/usr/bin", "/bin"])}


@pytest.mark.parametrize(
    ("answer", "feature", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15\nOpenJDK Runtime Environment', 17, "17.0.15"),
        ('java version "21" 2023-09-19 LTS', 21, "21"),
        ('openjdk version "25-ea" 2025-09-16', 25, "25-ea"),
        ('Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nopenjdk version "17.0.1"', 17, "17.0.1"),
    ],
)
def test_a_java_that_is_new_enough_is_given(
    tmp_path: Path, answer: str, feature: int, version: str
) -> None:
    path = a_java(tmp_path, answer)
    java = require_java(on_path(tmp_path))
    assert (java.path, java.feature, java.version) == (path, feature, version)


@pytest.mark.parametrize("version", ["1.8.0_402", "11.0.22", "16.0.2"])
def test_a_java_that_is_too_old_is_refused_with_its_version(tmp_path: Path, version: str) -> None:
    a_java(tmp_path, f'openjdk version "{version}"')
    with pytest.raises(SetupError, match="JAVA_TOO_OLD") as caught:
        require_java(on_path(tmp_path))
    assert version in caught.value.fact
    assert "Install Java 17 or newer" in caught.value.hint


def test_java_home_comes_before_the_path(tmp_path: Path) -> None:
    a_java(tmp_path / "old", 'openjdk version "11"')
    new = a_java(tmp_path / "home/bin", 'openjdk version "21.0.1"')
    environment = on_path(tmp_path / "old") | {"JAVA_HOME": str(tmp_path / "home")}
    assert require_java(environment).path == new


def test_without_a_java_the_hint_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="JAVA_MISSING") as caught:
        require_java({"PATH": str(tmp_path)})
    assert "Install Java 17 or newer" in caught.value.hint


def test_a_java_home_that_leads_nowhere_is_not_passed_over(tmp_path: Path) -> None:
    a_java(tmp_path / "good", 'openjdk version "21"')
    environment = on_path(tmp_path / "good") | {"JAVA_HOME": str(tmp_path / "gone")}
    with pytest.raises(SetupError, match="JAVA_MISSING") as caught:
        require_java(environment)
    assert f'JAVA_HOME="{tmp_path / "gone"}"' in caught.value.fact


def test_a_java_that_names_no_version_is_quoted(tmp_path: Path) -> None:
    a_java(tmp_path, "Unable to locate a Java Runtime.", code=1)
    with pytest.raises(SetupError, match="JAVA_BROKEN") as caught:
        require_java(on_path(tmp_path))
    assert "locate a Java Runtime" in caught.value.fact


def test_a_java_that_cannot_be_run_is_named(tmp_path: Path) -> None:
    path = tmp_path / "java"
    path.write_bytes(b"\x7fELF not a program")
    path.chmod(0o755)
    with pytest.raises(SetupError, match="JAVA_BROKEN"):
        require_java(on_path(tmp_path))
