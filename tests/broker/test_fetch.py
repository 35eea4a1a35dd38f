from __future__ import annotations

import time
from pathlib import Path

import pytest

from penstock.broker import fetch, jars
from penstock.broker.fetch import require_jars
from penstock.broker.jars import Jar
from penstock.errors import SetupError

HELLO = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
PLACE = '$(dirname "$(echo "$*" | sed "s/.*-retrieve //")")'


@pytest.fixture(autouse=True)
def _one_jar(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broker that consists of one jar, which says hello."""
    for module in (jars, fetch):
        monkeypatch.setattr(
            module, "needed_jars", lambda: (Jar("org.example", "hello", "1.0", HELLO),)
        )


def a_java(folder: Path, does: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a program in Java's place that does something of its own when it is to run Ivy."""
    program = folder / "java" / "bin" / "java"
    program.parent.mkdir(parents=True)
    version = '[ "$1" = -version ] && { echo \'openjdk version "17.0.1"\' >&2; exit 0; }'
    program.write_text(f"#!/bin/sh\n{version}\n{does}\n")
    program.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(folder / "java"))


def fetched(folder: Path, patience: float = 20) -> list[str]:
    said: list[str] = []
    require_jars(folder / "jars", tell=said.append, patience=patience)
    return said


def test_what_is_missing_is_fetched_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    came = f'mkdir -p "{PLACE}"; printf hello > "{PLACE}/hello-1.0.jar"'
    a_java(tmp_path, came, monkeypatch)
    assert "fetching 1 jars of Apache Kafka" in fetched(tmp_path)[0]
    assert fetched(tmp_path) == []
    assert sorted(path.name for path in (tmp_path / "jars").iterdir()) == [".lock", "hello-1.0.jar"]
    (tmp_path / "jars" / "hello-1.0.jar").write_text("damaged")
    assert len(fetched(tmp_path)) == 2


def test_a_jar_that_is_not_the_pinned_one_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    came = f'mkdir -p "{PLACE}"; printf other > "{PLACE}/hello-1.0.jar"'
    a_java(tmp_path, came, monkeypatch)
    with pytest.raises(SetupError, match="BROKER_JAR_CHECKSUM"):
        fetched(tmp_path)
    assert [path.name for path in (tmp_path / "jars").iterdir()] == [".lock"]


def test_a_repository_out_of_reach_is_said_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = "echo 'Server access error at url (java.net.ConnectException: refused)'; exit 1"
    a_java(tmp_path, refused, monkeypatch)
    with pytest.raises(SetupError, match=r"BROKER_JARS_MISSING.*ConnectException") as caught:
        fetched(tmp_path)
    assert "proxyHost" in caught.value.hint
    assert str(tmp_path / "jars") in caught.value.hint


def test_a_repository_that_says_nothing_is_not_waited_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_java(tmp_path, "exec sleep 60", monkeypatch)
    began = time.monotonic()
    with pytest.raises(SetupError, match=r"BROKER_JARS_MISSING.*within 1 s"):
        fetched(tmp_path, patience=1)
    assert time.monotonic() - began < 20


def test_a_file_in_the_place_of_the_folder_is_said(tmp_path: Path) -> None:
    (tmp_path / "jars").write_text("")
    with pytest.raises(SetupError, match=r"BROKER_JARS_MISSING.*cannot be made"):
        fetched(tmp_path)


def test_ivy_is_that_of_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert fetch._ivy().name.startswith("ivy-")
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(SetupError, match="PACKAGE_MISSING"):
        fetch._ivy()
