"""Classes of ours in the JVM: made once, found by tasks, and never in the way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from penstock.cache import cache_folder
from penstock.spark.jvm import collect
from penstock.spark.jvm.classes import are_made, classes_folder, make_classes
from penstock.spark.jvm.collect import collected
from penstock.spark.jvm.offer import offer_classes
from tests.eventually import eventually

PACKETS = "slot int, blob binary"


@pytest.fixture
def offered(spark: SparkSession) -> SparkSession:
    java: Any = spark.sparkContext._jvm
    eventually(lambda: java.java.lang.System.getProperty("penstock.packets") is not None)
    return spark


@pytest.mark.spark
def test_classes_are_compiled_once_and_kept(spark: SparkSession, tmp_path: Path) -> None:
    assert not are_made(tmp_path)
    assert make_classes(spark.sparkContext, tmp_path)
    assert sorted(path.name for path in tmp_path.rglob("*.class")) == [
        *("LocalFiles$Raw.class", "LocalFiles.class"),
        *("Packets$Instead.class", "Packets$Take.class", "Packets.class"),
    ]
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.class")}
    assert make_classes(spark.sparkContext, tmp_path)
    assert before == {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.class")}


@pytest.mark.spark
@pytest.mark.parametrize("size", [0, 10, 200_000])
def test_packets_come_as_they_were_sent(offered: SparkSession, size: int) -> None:
    sent = [bytes([number]) * size for number in range(3)]
    rows = offered.createDataFrame([(n, bytearray(blob)) for n, blob in enumerate(sent)], PACKETS)
    assert collected(rows) == sent
    java: Any = offered.sparkContext._jvm
    scratch = Path(java.java.lang.System.getProperty("penstock.packets"))
    assert not list(scratch.glob("packets-*"))


@pytest.mark.spark
def test_no_packets_are_an_empty_list(offered: SparkSession) -> None:
    assert collected(offered.createDataFrame([], PACKETS)) == []


@pytest.mark.spark
def test_our_class_is_looked_for_once_a_session(offered: SparkSession) -> None:
    rows = offered.createDataFrame([(0, bytearray(b"a"))], PACKETS)
    collect._offered.cache_clear()
    for _ in range(3):
        assert collected(rows) == [b"a"]
    assert collect._offered.cache_info().misses == 1


@pytest.mark.spark
def test_files_of_the_session_are_made_without_processes(offered: SparkSession) -> None:
    settings: Any = offered.sparkContext._jsc.hadoopConfiguration()
    assert settings.get("fs.file.impl") == "penstock.LocalFiles"


@pytest.mark.spark
def test_without_the_classes_a_session_goes_on(offered: SparkSession, tmp_path: Path) -> None:
    java: Any = offered.sparkContext._jvm
    folder = java.java.lang.System.clearProperty("penstock.packets")
    collect._offered.cache_clear()
    try:
        rows = offered.createDataFrame([(0, bytearray(b"a"))], PACKETS)
        assert collected(rows) is None
        (tmp_path / "file").touch()
        # No folder can be made there: nothing is raised, and nothing is offered.
        offer_classes(offered.sparkContext, tmp_path / "file" / "no", tmp_path)
    finally:
        java.java.lang.System.setProperty("penstock.packets", folder)


def test_where_the_cache_is_no_place_the_session_has_a_folder_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert classes_folder(tmp_path).is_relative_to(tmp_path / "cache")
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert classes_folder(tmp_path).parent == tmp_path


def test_the_cache_is_where_the_user_has_it() -> None:
    assert cache_folder({"XDG_CACHE_HOME": "/caches"}) == Path("/caches/penstock")
    assert cache_folder({"HOME": "/home/ann"}) == Path("/home/ann/.cache/penstock")
