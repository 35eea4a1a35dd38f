"""What a cluster needs, told without one."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from penstock.errors import ConfigError, SetupError
from penstock.spark.cluster import conf
from penstock.spark.cluster.conf import cluster_settings
from penstock.spark.cluster.executors import await_executors, ended_at_start, tasks_of
from penstock.spark.cluster.master import (
    addresses_of,
    is_local,
    own_address,
    require_reachable,
)
from penstock.spark.cluster.package import build_package
from penstock.spark.cluster.probe import Seen, _ended_after, require_alike, versions
from penstock.spark.cluster.settings import CLUSTER, Cluster, cluster_of


@pytest.fixture
def listening() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.mark.parametrize(
    ("master", "local"),
    [("local", True), ("local[*]", True), ("local[2,3]", True), ("local-cluster[2,1,512]", False)],
)
def test_a_master_is_local_where_there_is_one_process(master: str, *, local: bool) -> None:
    assert is_local(master) is local


def test_masters_have_addresses_but_for_those_that_spark_finds_itself() -> None:
    assert addresses_of("spark://one:7077,two:7078") == [("one", 7077), ("two", 7078)]
    assert addresses_of("k8s://https://host:6443") == [("host", 6443)]
    assert addresses_of("k8s://host") == [("host", 443)]
    assert addresses_of("yarn") == []


@pytest.mark.parametrize("master", ["spark://host", "sprk://host:7077", "host:7077", "Yarn", ""])
def test_what_is_no_address_of_a_cluster_is_refused(master: str) -> None:
    with pytest.raises(SetupError, match="CLUSTER_ADDRESS"):
        addresses_of(master)


def test_a_master_that_does_not_answer_is_told_at_once() -> None:
    with socket.socket() as taken:
        # Bound, and never listening.
        taken.bind(("127.0.0.1", 0))
        begun = time.monotonic()
        with pytest.raises(SetupError, match="CLUSTER_UNREACHABLE"):
            require_reachable(f"spark://127.0.0.1:{taken.getsockname()[1]}", seconds=1)
    assert time.monotonic() - begun < 5


def test_one_of_several_masters_is_enough(listening: int) -> None:
    require_reachable(f"spark://127.0.0.1:1,127.0.0.1:{listening}")
    assert own_address(f"spark://127.0.0.1:{listening}") == "127.0.0.1"


def test_executors_are_told_where_to_call_and_what_to_import(
    listening: int, tmp_path: Path
) -> None:
    cluster = cluster_of(
        {
            "python": "./environment/bin/python3",
            "driver_host": "127.0.0.2",
            "spark": {"spark": {"executor": {"memory": "2g"}}, "spark.submit.pyFiles": "more.py"},
        }
    )
    found = cluster_settings(f"spark://127.0.0.1:{listening}", cluster, tmp_path)
    assert found["spark.driver.host"] == "127.0.0.2"
    assert found["spark.executor.memory"] == "2g"
    assert found["spark.executorEnv.PATH"].startswith("environment/bin:")
    more, package = found["spark.submit.pyFiles"].split(",")
    assert more == "more.py"
    assert package.endswith(found["spark.executorEnv.PYTHONPATH"])


def test_a_package_may_be_elsewhere_or_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conf, "require_reachable", lambda _: None)
    given = Cluster(package="hdfs://names/lib/penstock.zip", driver_host="a")
    found = cluster_settings("yarn", given, tmp_path)
    assert found["spark.submit.pyFiles"] == "hdfs://names/lib/penstock.zip"
    assert found["spark.executorEnv.PYTHONPATH"] == "penstock.zip"
    none = cluster_settings("yarn", Cluster(package=False, driver_host="a"), tmp_path)
    assert "spark.submit.pyFiles" not in none


@pytest.mark.parametrize(
    "said", [{"package": 3}, {"python": 3}, {"patience": "soon"}, {"patience": 3}, {"spark": 3}]
)
def test_a_setting_of_the_wrong_kind_is_refused(said: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match="CONFIG_VALUE"):
        cluster_of(said)


def test_a_misspelt_setting_is_named_and_corrected() -> None:
    with pytest.raises(ConfigError, match="CONFIG_KEY") as caught:
        cluster_of({"pyhton": "python3"})
    assert caught.value.hint == 'Did you mean "python"?'


def test_a_package_is_imported_from_its_archive_alone(tmp_path: Path) -> None:
    archive = build_package(tmp_path)
    assert build_package(tmp_path / "again").name == archive.name
    assert "penstock/spark/daemon.py" in zipfile.ZipFile(archive).namelist()
    said = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _IMPORT, str(archive)],
        capture_output=True,
        check=True,
        text=True,
        env={**os.environ, "PYTHONPATH": ""},
    )
    assert said.stdout.strip().startswith(str(archive))


_IMPORT = "import sys; sys.path.insert(0, sys.argv[1]); import penstock; print(penstock.__file__)"


class Context:
    """As much of a session as is asked here."""

    master = "spark://127.0.0.1:7077"
    defaultParallelism = 2  # noqa: N815

    def __init__(self, executors: int = 0, **said: str) -> None:
        found = SimpleNamespace(size=lambda: executors + 1)
        java = SimpleNamespace(getExecutorMemoryStatus=lambda: found)
        self._jsc = SimpleNamespace(sc=lambda: java)
        self._said = {name.replace("_", "."): value for name, value in said.items()}

    def getConf(self) -> Any:  # noqa: ANN401, N802
        return SimpleNamespace(get=self._said.get)


def test_a_cluster_without_workers_is_told_within_the_patience() -> None:
    none: Any = Context()
    with pytest.raises(SetupError, match="CLUSTER_NO_EXECUTOR"):
        await_executors(none, timedelta(0))
    some: Any = Context(executors=1)
    await_executors(some, timedelta(0))
    later: Any = Context(spark_dynamicAllocation_enabled="true")
    await_executors(later, timedelta(0))


def test_there_are_as_many_tasks_as_cores_were_asked_for() -> None:
    asked: Any = Context(spark_executor_instances="4", spark_executor_cores="2")
    assert tasks_of(asked) == 8
    most: Any = Context(spark_cores_max="6")
    assert tasks_of(most) == 6


def test_a_cluster_that_ends_a_session_at_once_is_told() -> None:
    words = RuntimeError("An error occurred\n: java.lang.IllegalStateException: stopped\n\tat x")
    error = ended_at_start("spark://h:7077", words)
    assert error.code == "CLUSTER_REFUSED"
    assert error.fact.endswith("java.lang.IllegalStateException: stopped")


def test_executors_with_other_packages_or_other_files_are_refused(tmp_path: Path) -> None:
    require_alike([Seen("one", "a.zip", shared=True, versions=versions())], tmp_path)
    with pytest.raises(SetupError, match="CLUSTER_PACKAGES") as caught:
        require_alike(
            [Seen("one", "a.zip", shared=True, versions={**versions(), "polars": ""})], tmp_path
        )
    assert "polars missing (here " in caught.value.fact
    with pytest.raises(SetupError, match="CLUSTER_PATH"):
        require_alike([Seen("one", "a.zip", shared=False, versions=versions())], tmp_path)


def test_executors_that_never_answer_are_told_of_and_not_waited_for() -> None:
    cancelled = threading.Event()
    session: Any = SimpleNamespace(sparkContext=SimpleNamespace(cancelAllJobs=cancelled.set))

    def ask() -> None:
        with _ended_after(session, timedelta(milliseconds=10)):
            cancelled.wait()
            raise RuntimeError

    with pytest.raises(SetupError, match="CLUSTER_SILENT"):
        ask()


def test_a_cluster_needs_nothing_to_be_said() -> None:
    assert cluster_of({}) == CLUSTER
