"""The session that a program runs in: one of its own, with the settings that programs need."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource

from penstock.spark.housekeeping import SPARK_RETAINS

_SETTINGS: Mapping[str, str] = {
    # Spark refuses several stateful operators of ours in a row; they need no watermark of Spark.
    "spark.sql.streaming.unsupportedOperationCheck": "false",
    # Cannot be switched on later: sources keep their offsets by name when a program changes.
    "spark.sql.streaming.queryEvolution.enableSourceEvolution": "true",
    # A batch has some dozens of packets: code made for it costs more than it saves.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    # Our offsets and states have checksums of their own, see `spark.checkpoint_check`.
    "spark.sql.streaming.checkpoint.fileChecksum.enabled": "false",
    # Our offsets say when a batch without rows is due.
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    **SPARK_RETAINS,
}


def program_session(session: SparkSession, source: type[DataSource]) -> SparkSession:
    """Give a session of its own to a program that reads from a source.

    It is the copy of one that was prepared once: settings and a source are a call each, to the
    JVM and back, and there are thirty of them.
    """
    prepared: Any = _prepared(session, source)
    copy = prepared._jsparkSession.cloneSession()  # noqa: SLF001  # PySpark has no word for it
    return type(session)(session.sparkContext, copy)


@lru_cache(maxsize=4)
def _prepared(session: SparkSession, source: type[DataSource]) -> SparkSession:
    own = session.newSession()
    for name, value in _SETTINGS.items():
        own.conf.set(name, value)
    own.dataSource.register(source)
    return own
