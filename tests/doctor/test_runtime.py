from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from penstock.config import load_settings
from penstock.doctor import runtime
from penstock.doctor.runtime import check_java, check_packages, check_python, check_spark
from penstock.errors import SetupError

SETTINGS = load_settings({"spark.master": "local[1]"}, environment={})


def test_an_old_python_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sys.executable in check_python(SETTINGS)
    monkeypatch.setattr(sys, "version_info", (3, 10, 4))
    with pytest.raises(SetupError, match="PYTHON_TOO_OLD"):
        check_python(SETTINGS)


def test_a_missing_java_is_the_answer_of_the_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SetupError, match="JAVA_MISSING"):
        check_java(SETTINGS)


def test_a_missing_package_comes_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(runtime, "PACKAGES", ("typer", "no_such_package"))
    with pytest.raises(SetupError, match="PACKAGE_MISSING") as caught:
        check_packages(SETTINGS)
    assert 'package "no_such_package"' in caught.value.fact
    assert "pip install 'penstock[spark]'" in caught.value.hint


def test_a_package_that_does_not_load_is_named_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "torn_package.py").write_text("raise ImportError('libfoo.so is missing')\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(runtime, "PACKAGES", ("torn_package",))
    with pytest.raises(SetupError, match="PACKAGE_BROKEN") as caught:
        check_packages(SETTINGS)
    assert "libfoo.so is missing" in caught.value.fact


def test_a_pandas_that_pyspark_does_not_know_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "PACKAGES", ())
    monkeypatch.setattr(runtime, "version", {"pandas": "3.0.1", "pyspark": "4.3.0"}.__getitem__)
    with pytest.raises(SetupError, match="PACKAGE_VERSION") as caught:
        check_packages(SETTINGS)
    assert "pandas 3.0.1" in caught.value.fact
    assert "'pandas<3'" in caught.value.hint


class StandIn(ModuleType):
    """Takes the place of the module that starts Spark; its job does as the test says."""

    def __init__(self, job: Callable[[], int]) -> None:
        super().__init__("penstock.spark.session")
        self.count = job
        self.asked: dict[str, object] = {}
        self.stopped = False

    def spark_session(self, **asked: object) -> StandIn:
        self.asked = asked
        return self

    def stop_session(self) -> None:
        self.stopped = True

    def range(self, _: int) -> StandIn:
        return self

    def mapInArrow(self, *_: object) -> StandIn:  # noqa: N802  # Spark's own name
        return self


@pytest.fixture
def spark(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], int]], StandIn]:
    """Puts a stand-in with the given job in Spark's place."""

    def put(job: Callable[[], int]) -> StandIn:
        module = StandIn(job)
        monkeypatch.setitem(sys.modules, "penstock.spark.session", module)
        return module

    return put


def test_a_job_that_fails_is_told_without_its_java_stack_and_stops_the_session(
    spark: Callable[[Callable[[], int]], StandIn],
) -> None:
    def fail() -> int:
        message = "Python worker failed to connect back.\n\tat org.apache.spark.X(X.scala)"
        raise RuntimeError(message)

    module = spark(fail)
    with pytest.raises(SetupError, match="SPARK_START") as caught:
        check_spark(SETTINGS)
    assert "Python worker failed to connect back." in caught.value.fact
    assert "org.apache" not in str(caught.value)
    assert "PYSPARK_PYTHON" in caught.value.hint
    assert module.stopped


def test_an_error_with_a_code_keeps_it(spark: Callable[[Callable[[], int]], StandIn]) -> None:
    def fail() -> int:
        raise SetupError("JAVA_MISSING", "no java")

    spark(fail)
    with pytest.raises(SetupError, match="JAVA_MISSING"):
        check_spark(SETTINGS)


def test_spark_is_started_as_the_settings_say_and_stopped_again(
    spark: Callable[[Callable[[], int]], StandIn],
) -> None:
    module = spark(lambda: 2)
    assert "runs a job on local[1]" in check_spark(SETTINGS)
    assert (module.asked["master"], module.asked["driver_memory"]) == ("local[1]", "1g")
    assert module.stopped


@pytest.mark.slow
def test_the_packages_of_this_environment_load() -> None:
    assert "pyspark 4.3" in check_packages(SETTINGS)
