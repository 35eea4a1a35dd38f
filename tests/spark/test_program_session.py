from __future__ import annotations

import pytest
from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from penstock.spark.program_format import ProgramFormat
from penstock.spark.program_session import program_session

pytestmark = pytest.mark.spark
PARTITIONS = "spark.sql.shuffle.partitions"
CHECKS = "spark.sql.streaming.unsupportedOperationCheck"


def test_a_program_has_a_session_of_its_own_that_knows_its_source(spark: SparkSession) -> None:
    one, other = (program_session(spark, ProgramFormat) for _ in range(2))
    one.conf.set(PARTITIONS, "3")
    assert (one.conf.get(PARTITIONS), other.conf.get(PARTITIONS)) != ("3", "3")
    assert program_session(spark, ProgramFormat).conf.get(PARTITIONS) == other.conf.get(PARTITIONS)
    assert one.conf.get(CHECKS) == other.conf.get(CHECKS) == "false"
    assert spark.conf.get(CHECKS) == "true"
    # It is found; what it lacks is a name, which a setting of programs asks for.
    with pytest.raises(AnalysisException, match="UNNAMED_STREAMING_SOURCES"):
        one.readStream.format(ProgramFormat.name()).load()
    with pytest.raises(Py4JJavaError, match="DATA_SOURCE_NOT_FOUND"):
        spark.readStream.format(ProgramFormat.name()).load()


def test_a_program_sees_what_its_session_was_given_before(spark: SparkSession) -> None:
    name = "spark.sql.session.timeZone"
    assert program_session(spark, ProgramFormat).conf.get(name) == spark.conf.get(name) == "UTC"
