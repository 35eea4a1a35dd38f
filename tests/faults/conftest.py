"""One Spark session for all tests of a run, and one run of the pane program in peace."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from penstock.spark.session import spark_session, stop_session
from tests.faults.pane_run import Calm, PaneRun, calm_run


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    yield spark_session(master="local[2]")
    stop_session()


@pytest.fixture(scope="session")
def calm(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Calm:
    """What the pane program gives when nothing happens to it."""
    return calm_run(PaneRun(tmp_path_factory.mktemp("calm"), spark))
