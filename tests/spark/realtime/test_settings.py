"""What real-time mode needs, told before anything starts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import penstock as ps
from penstock.config import load_settings
from penstock.doctor.realtime import check_realtime
from penstock.errors import ConfigError, PenstockError, RunError, SetupError
from penstock.jobs.said_settings import settings_said
from penstock.jobs.settings_document import read_settings, settings_document
from penstock.model.job_settings import JOB_SETTINGS
from penstock.spark.realtime.run import _failure, _require_connector, start_realtime
from penstock.spark.realtime.settings import JARS, jar_settings, realtime_of


def said(folder: Path, text: str) -> Any:  # noqa: ANN401
    (folder / "penstock.toml").write_text(text, encoding="utf-8")
    return load_settings(environment={}, directory=folder)


def test_jars_of_a_folder_are_given_to_spark_and_missing_ones_are_named(tmp_path: Path) -> None:
    settings = said(tmp_path, '[realtime]\njars = "jars"\n')
    with pytest.raises(SetupError, match="REALTIME_JARS") as caught:
        check_realtime(settings)
    assert all(part in caught.value.fact for part in JARS)
    (tmp_path / "jars").mkdir()
    for part in JARS:
        (tmp_path / "jars" / f"{part}-1.0.jar").touch()
    assert check_realtime(settings).startswith("jars in ")
    assert len(jar_settings(realtime_of(settings))["spark.jars"].split(",")) == len(JARS)


def test_packages_are_of_sparks_own_version_unless_they_are_said(tmp_path: Path) -> None:
    spark = realtime_of(said(tmp_path, '[realtime]\npackages = "spark"\n'))
    assert ":4.3." in jar_settings(spark)["spark.jars.packages"]
    other = said(tmp_path, '[realtime]\npackages = "a:b:1"\n')
    assert jar_settings(realtime_of(other))["spark.jars.packages"] == "a:b:1"
    assert check_realtime(other) == "Spark fetches a:b:1 when a session starts"
    assert jar_settings(realtime_of(said(tmp_path, ""))) == {}


def test_words_for_kafkas_clients_pass_through(tmp_path: Path) -> None:
    text = '[realtime]\nservers = "h:9092"\n[realtime.kafka]\nsecurity.protocol = "SSL"\n'
    found = realtime_of(said(tmp_path, text))
    assert (found.servers, found.kafka) == ("h:9092", {"security.protocol": "SSL"})


@pytest.mark.parametrize("text", ['server = "h"', "packages = 3", 'kafka = "x"'])
def test_wrong_settings_are_refused(tmp_path: Path, text: str) -> None:
    settings = said(tmp_path, f"[realtime]\n{text}\n")
    with pytest.raises(ConfigError, match="CONFIG_"):
        realtime_of(settings)


def a_program() -> ps.App:
    app = ps.App("clicks")
    app.stream("clicks", schema={"n": "bigint"}, format="json").to("out")
    return app


def refused(working: Path, **how: Any) -> PenstockError:  # noqa: ANN401
    with pytest.raises(PenstockError) as caught:
        start_realtime(
            a_program().physical(),
            checkpoint=working,
            session=lambda: pytest.fail("no session is needed to refuse it"),
            how=ps.JobSettings(latency="realtime", **how),
            bounded=False,
        )
    return caught.value


def test_a_guarantee_that_cannot_be_kept_is_refused(working_directory: Path) -> None:
    error = refused(working_directory)
    assert error.code == "REALTIME_SETTING"
    assert 'guarantee = "exactly-once"' in error.fact


def test_an_address_of_kafka_is_needed(working_directory: Path) -> None:
    assert refused(working_directory, guarantee="at-least-once").code == "REALTIME_SERVERS"


def test_a_session_without_the_connector_is_told() -> None:
    class Nobody:
        def __getattr__(self, _: str) -> Any:  # noqa: ANN401
            return self

        def __call__(self, _: str) -> bool:
            return False

    session: Any = Nobody()
    with pytest.raises(SetupError, match="REALTIME_JARS"):
        _require_connector(session)


def test_too_few_cores_are_told() -> None:
    error = _failure(RuntimeError("[CONCURRENT_SCHEDULER_INSUFFICIENT_SLOT] ..."))
    assert isinstance(error, RunError)
    assert error.code == "REALTIME_SLOTS"


def test_a_latency_may_be_the_word_and_is_kept() -> None:
    how = settings_said(JOB_SETTINGS, {"latency": "realtime"}, "a test")
    assert how.latency == "realtime"
    assert read_settings(settings_document(how)) == how
