"""Whether a cluster has given us anybody to work."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from pyspark import SparkContext

from penstock.errors import SetupError
from penstock.spark.cluster.master import is_local
from penstock.spark.cores import available_cores

_PAUSE = 0.1
_DYNAMIC = "spark.dynamicAllocation.enabled"


def await_executors(
    context: SparkContext, patience: timedelta, clock: Callable[[], float] = time.monotonic
) -> None:
    """Wait for the first executor; without any, Spark would let a job wait for ever."""
    if context.getConf().get(_DYNAMIC) == "true":
        # They are asked for when there is work.
        return
    until = clock() + patience.total_seconds()
    while not count_executors(context):
        if clock() >= until:
            raise SetupError(
                "CLUSTER_NO_EXECUTOR",
                f'"{context.master}" has started no executor within {patience.total_seconds():g} s',
                hint="See that the cluster has workers with a core and memory to spare"
                " (spark.executor.memory, spark.cores.max of [cluster.spark]), and that they reach"
                f" this process at {context.getConf().get('spark.driver.host')}.",
            )
        time.sleep(_PAUSE)


def ended_at_start(master: str, error: Exception) -> SetupError:
    """Say that Spark has ended a session while it began, as it does when executors keep failing."""
    words = next((line for line in str(error).splitlines() if "Exception" in line), "")
    return SetupError(
        "CLUSTER_REFUSED",
        f'"{master}" ended the session while it began: {words.strip(": ") or error}',
        hint="The workers' own logs say why their executors end; compare their Spark and Java with"
        " this machine's.",
    )


def count_executors(context: SparkContext) -> int:
    """Give how many executors are there."""
    inner: Any = context  # py4j has no types
    # The driver is counted as one of them.
    return int(inner._jsc.sc().getExecutorMemoryStatus().size()) - 1  # noqa: SLF001


def tasks_of(context: SparkContext) -> int:
    """Give how many tasks can run at once; of a cluster as many as it was asked for."""
    if is_local(context.master or ""):
        return available_cores()
    conf = context.getConf()
    asked = int(conf.get("spark.executor.instances", "0") or 0) * int(
        conf.get("spark.executor.cores", "1") or 1
    )
    most = int(conf.get("spark.cores.max", "0") or 0)
    return max(context.defaultParallelism, asked, most)
