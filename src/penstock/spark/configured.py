"""The session of this process as its settings say."""

from __future__ import annotations

from pyspark.sql import SparkSession

from penstock.config import load_settings
from penstock.spark.session import spark_session


def configured_session() -> SparkSession:
    """Give the session of this process, started by the settings where there is none that lives."""
    settings = load_settings()
    return spark_session(master=settings.spark_master, driver_memory=settings.spark_driver_memory)
