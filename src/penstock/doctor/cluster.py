"""Checks of the cluster that Spark is to run on: somebody answers, and its executors are alike."""

from __future__ import annotations

from penstock.config import Settings
from penstock.spark.cluster.master import addresses_of, is_local, require_reachable
from penstock.spark.cluster.settings import cluster_of


def check_cluster(settings: Settings) -> str:
    """A master answers where one is configured; nothing waits longer than some seconds."""
    cluster_of(settings.cluster)
    master = settings.spark_master
    if is_local(master):
        return f"none: spark.master is {master}"
    require_reachable(master)
    return f"{master} answers" if addresses_of(master) else f"{master} is found by Spark itself"
