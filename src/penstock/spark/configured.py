"""The session of this process as its settings say."""

from __future__ import annotations

from pyspark.sql import SparkSession

from penstock.config import load_settings
from penstock.spark.cluster.settings import cluster_of
from penstock.spark.realtime.settings import jar_settings, realtime_of
from penstock.spark.session import spark_session


def configured_session() -> SparkSession:
    """Give the session of this process, started by the settings where there is none that lives."""
    settings = load_settings()
    return spark_session(
        master=settings.spark_master,
        driver_memory=settings.spark_driver_memory,
        settings=jar_settings(realtime_of(settings)),
        cluster=cluster_of(settings.cluster),
    )
