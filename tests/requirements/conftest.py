"""A project whose log is a broker, one Spark session, and commands."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.spark.session import spark_session
from tests.cli.shell import Cli
from tests.kafka.cluster import Brokers
from tests.requirements.orders import ORDERS, send


@pytest.fixture(scope="session")
def spark() -> SparkSession:
    return spark_session(master="local[2]")


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    return Cli(capsys, monkeypatch)


@pytest.fixture
def project(kafka: Brokers, working_directory: Path) -> Path:
    """The working directory, whose log is Kafka by the line that a user writes."""
    (working_directory / "penstock.toml").write_text(f'log = "kafka://{kafka.address}"\n')
    return working_directory


@pytest.fixture
def orders(kafka: Brokers) -> str:
    """A topic with orders."""
    topic = kafka.topic(2)
    send(kafka, topic, ORDERS)
    return topic
