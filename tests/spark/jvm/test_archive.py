"""The class-data archive: known by its class path, never in the way, gone when unused."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from penstock.cache import cache_folder
from penstock.spark.home import stable_home
from penstock.spark.java import Java, require_java
from penstock.spark.jvm.archive import (
    UNUSED_SECONDS,
    Archive,
    archive_of,
    options_to_use,
    remove_old,
)
from penstock.spark.session import _of_java

START = """
from penstock.spark.session import spark_session, stop_session
session = spark_session(master="local[1]")
print(session.range(3).count(), session.conf.get("spark.driver.extraJavaOptions"))
stop_session()
"""


@pytest.fixture
def java(tmp_path: Path) -> Java:
    path = tmp_path / "java"
    path.touch()
    return Java(path, 17, "17.0.1")


@pytest.fixture
def classes(tmp_path: Path) -> Path:
    jar = tmp_path / "classes.jar"
    jar.write_bytes(b"ours")
    return jar


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return cache_folder()


def home_in(folder: Path) -> Path:
    """A home of Spark with one jar."""
    home = folder / "spark-home-1"
    (home / "jars").mkdir(parents=True)
    (home / "jars" / "spark.jar").write_bytes(b"spark")
    return home


def made(archive: Archive | None, content: bytes = b"classes") -> Path:
    assert archive is not None
    fresh = archive.home / "fresh"
    fresh.write_bytes(content)
    archive.put(fresh)
    found = archive.found()
    assert found is not None
    return found


def test_an_archive_is_used_once_it_is_made(tmp_path: Path, classes: Path, java: Java) -> None:
    archive = archive_of(home_in(tmp_path), classes, java)
    assert options_to_use(archive) == []
    file = made(archive)
    os.utime(file, (0, 0))
    assert f'"-XX:SharedArchiveFile={file}"' in options_to_use(archive)
    assert file.stat().st_mtime > 0
    assert made(archive, b"made anew").read_bytes() == b"made anew"
    assert not file.exists()


def test_one_that_was_cut_short_is_none(tmp_path: Path, classes: Path, java: Java) -> None:
    archive = archive_of(home_in(tmp_path), classes, java)
    file = made(archive)
    os.truncate(file, 3)
    assert archive is not None
    assert archive.found() is None
    assert options_to_use(archive) == []


def test_another_java_spark_or_class_of_ours_is_another_archive(
    tmp_path: Path, classes: Path, java: Java
) -> None:
    home = home_in(tmp_path)
    known = {archive_of(home, classes, java), archive_of(home, classes, java)}
    assert len(known) == 1
    known.add(archive_of(home, classes, Java(java.path, 17, "17.0.2")))
    classes.write_bytes(b"ours, changed")
    known.add(archive_of(home, classes, java))
    (home / "jars" / "more.jar").touch()
    known.add(archive_of(home, classes, java))
    os.utime(home / "jars" / "spark.jar", (0, 0))
    known.add(archive_of(home, classes, java))
    assert len(known) == 5


@pytest.mark.parametrize("name", ["no:place", 'no"place'])
def test_a_path_that_no_option_can_hold_has_no_archive(
    name: str, tmp_path: Path, classes: Path, java: Java
) -> None:
    assert archive_of(home_in(tmp_path / name), classes, java) is None


def test_classes_in_a_folder_have_no_archive(tmp_path: Path, java: Java) -> None:
    assert archive_of(home_in(tmp_path), tmp_path, java) is None


def test_what_nobody_used_for_a_month_is_removed(cache: Path, classes: Path, java: Java) -> None:
    home = home_in(cache)
    old, used = made(Archive(home, "classes-old")), made(archive_of(home, classes, java))
    now = time.time()
    os.utime(old, (now, now - UNUSED_SECONDS - 60))
    remove_old(now)
    assert not old.exists()
    assert used.exists()


def test_archives_of_a_spark_that_is_gone_are_removed(cache: Path, tmp_path: Path) -> None:
    gone = cache / "spark-home-2"
    gone.mkdir(parents=True)
    (gone / "jars").symlink_to(tmp_path / "no-such-venv")
    made(Archive(gone, "classes-of-it"))
    kept = home_in(cache)
    remove_old()
    assert not gone.exists()
    assert kept.exists()


@pytest.mark.parametrize("master", ["spark://host:7077", "local-cluster[1,1,512]"])
def test_a_cluster_starts_from_no_archive(master: str, tmp_path: Path, java: Java) -> None:
    settings = _of_java(tmp_path, java, {"spark.master": master})
    assert "Archive" not in settings["spark.driver.extraJavaOptions"]
    assert "spark.driver.extraClassPath" not in settings


def test_options_and_class_path_of_the_user_are_kept(tmp_path: Path, java: Java) -> None:
    mine = {"spark.master": "local[2]", "spark.driver.extraJavaOptions": "-XX:+UseG1GC"}
    assert _of_java(tmp_path, java, mine)["spark.driver.extraJavaOptions"] == "-XX:+UseG1GC"
    longer = {"spark.master": "local[2]", "spark.driver.extraClassPath": "/mine.jar"}
    settings = _of_java(tmp_path, java, longer)
    assert settings["spark.driver.extraClassPath"].endswith(":/mine.jar")
    assert "Archive" not in settings["spark.driver.extraJavaOptions"]


@pytest.mark.spark
def test_a_session_has_the_archive_in_its_memory(spark: SparkSession) -> None:
    options = str(spark.conf.get("spark.driver.extraJavaOptions"))
    if "-XX:SharedArchiveFile=" not in options:
        pytest.skip("no class-data archive is made: `make archive`")
    file = options.split("-XX:SharedArchiveFile=")[1].split('"', maxsplit=1)[0]
    java: Any = spark.sparkContext._jvm
    process = java.java.lang.ProcessHandle.current().pid()
    assert file in Path(f"/proc/{process}/maps").read_text()


@pytest.mark.spark
def test_a_damaged_archive_is_passed_over_in_silence(spark: SparkSession, cache: Path) -> None:
    jar = Path(str(spark.conf.get("spark.driver.extraClassPath")))
    if jar.suffix != ".jar":
        pytest.skip("the first session of this user: our classes were not made yet")
    (cache / jar.parent.name).mkdir(parents=True)
    (cache / jar.parent.name / jar.name).write_bytes(jar.read_bytes())
    home = stable_home()
    assert home is not None
    made(archive_of(home, cache / jar.parent.name / jar.name, require_java()), b"none" * 100_000)
    done = subprocess.run(
        [sys.executable, "-c", START], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.stderr == ""
    assert done.stdout.startswith("3 ")
    assert f"-XX:SharedArchiveFile={home}" in done.stdout
