"""Making the class-data archive: once, by one process, and never a failure of who asked for it."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from penstock.errors import SetupError
from penstock.spark import make_archive as maker
from penstock.spark.java import Java
from penstock.spark.jvm.archive import Archive
from penstock.spark.jvm.classes import classes_folder


@pytest.fixture
def _ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of its own in which our classes are made, and a Java that is not asked."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("SPARK_HOME", raising=False)
    (classes_folder(tmp_path) / "classes.jar").touch()
    (tmp_path / "java").touch()
    monkeypatch.setattr(maker, "require_java", lambda: Java(tmp_path / "java", 17, "17.0.1"))


@pytest.mark.usefixtures("_ready")
def test_of_several_makers_one_makes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Archive] = []

    def make(archive: Archive, _: Path) -> None:
        made.append(archive)
        time.sleep(0.2)
        (archive.home / "fresh").write_bytes(b"classes")
        archive.put(archive.home / "fresh")

    monkeypatch.setattr(maker, "_make", make)
    with ThreadPoolExecutor(3) as several:
        found = set(several.map(lambda _: maker.make_archive(), range(3)))
    assert len(made) == 1
    assert found == {made[0].found()}


@pytest.mark.usefixtures("_ready")
def test_a_jvm_that_writes_none_leaves_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maker, "_make", lambda *_: None)
    assert maker.make_archive() is None


def test_a_spark_of_the_user_has_no_archive_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_HOME", "/opt/spark")
    assert maker.make_archive() is None


def test_that_it_cannot_be_made_is_said_and_no_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise SetupError("JAVA_MISSING", "there is no Java", hint="Install one.")

    monkeypatch.setattr(maker, "make_archive", fail)
    maker.main()
    assert capsys.readouterr().out.startswith("no class-data archive: ")
