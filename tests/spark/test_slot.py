from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.functions import hash as hash_of

from penstock.spark.slot import Slots, spark_hash


@pytest.mark.parametrize("parallelism", [1, 2, 3, 8])
def test_buckets_are_dealt_out_evenly_over_the_tasks(parallelism: int) -> None:
    slots = Slots(("agg-1", "agg-2"), 8, parallelism)
    for operator in slots.operators:
        numbers = slots.of_all([operator])
        tasks = [spark_hash(number) % parallelism for number in numbers]
        counts = [tasks.count(task) for task in range(parallelism)]
        assert max(counts) - min(counts) <= 1
    lanes = {spark_hash(slots.passing(lane)) % parallelism for lane in range(parallelism)}
    assert lanes == set(range(parallelism))


def test_a_number_belongs_to_one_bucket_of_one_operator() -> None:
    slots = Slots(("agg-1", "dedup-1"), 5, 3)
    numbers = slots.of_all(slots.operators)
    assert len({*numbers, *(slots.passing(lane) for lane in range(3))}) == 13
    for operator in slots.operators:
        for bucket in range(5):
            assert slots.owner(slots.of(operator, bucket)) == (operator, bucket)
    assert slots.owner(slots.passing(7)) is None


@pytest.mark.spark
def test_the_hash_is_that_of_sparks_exchanges(spark: SparkSession) -> None:
    frame = spark.range(-5, 200).selectExpr("cast(id * 7919 as int) AS n")
    for row in frame.select("n", hash_of("n").alias("hash")).collect():
        assert spark_hash(row["n"] & 0xFFFFFFFF) == row["hash"]
