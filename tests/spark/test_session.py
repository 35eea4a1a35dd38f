from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.spark.session import spark_log, spark_session

START = """
import sys
from penstock.errors import PenstockError
from penstock.spark.session import spark_session
try:
    spark_session(driver_memory=sys.argv[1])
except PenstockError as error:
    print(error)
"""


@pytest.mark.spark
def test_a_process_has_one_session(spark: SparkSession) -> None:
    assert spark_session() is spark


@pytest.mark.spark
def test_nothing_listens_beyond_this_machine_and_times_are_utc(spark: SparkSession) -> None:
    assert spark.conf.get("spark.driver.bindAddress") == "127.0.0.1"
    assert spark.conf.get("spark.ui.enabled") == "false"
    assert spark.sql("select current_timezone()").collect()[0][0] == "UTC"


@pytest.mark.spark
def test_sparks_own_log_is_a_file(spark: SparkSession) -> None:
    assert "WARN" in spark_log(spark).read_text()
    assert not Path("spark-warehouse").exists()


@pytest.mark.spark
def test_a_jvm_that_does_not_start_is_a_coded_error_in_three_lines() -> None:
    done = subprocess.run(
        [sys.executable, "-c", START, "1"], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stdout.startswith("[SPARK_START] Spark did not start")
    assert len(done.stdout.splitlines()) <= 3
    assert done.stderr == ""
