"""The settings of a session whose executors are elsewhere."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from penstock.spark.cluster.master import own_address, require_reachable
from penstock.spark.cluster.package import build_package
from penstock.spark.cluster.python import python_settings
from penstock.spark.cluster.settings import Cluster

_PYTHON_PATH = "spark.executorEnv.PYTHONPATH"


def cluster_settings(master: str, cluster: Cluster, scratch: Path) -> dict[str, str]:
    """Give the settings by which executors find this process, its Python and its package."""
    require_reachable(master)
    host = cluster.driver_host or own_address(master)
    return {
        "spark.driver.host": host,
        "spark.driver.bindAddress": host,
        # As in the driver: executors hand packets on, their rows stay in Python (decision 21).
        "spark.executor.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
        # As in the driver, where it is set by the start of Spark's own shell.
        "spark.executorEnv.PYTHONHASHSEED": "0",
        **cluster.spark,
        **_package_settings(cluster, scratch),
        **python_settings(cluster.python, cluster.spark),
    }


def _package_settings(cluster: Cluster, scratch: Path) -> dict[str, str]:
    """Give the settings by which executors import Penstock from an archive."""
    if cluster.package is False:
        return {}
    given = cluster.package
    place = build_package(scratch).as_uri() if given is True else str(given)
    name = PurePosixPath(urlsplit(place).path).name
    files = [said for said in (cluster.spark.get("spark.submit.pyFiles"), place) if said]
    # Spark's worker adds such files to its path when a task begins. The process it is forked from
    # has imported Penstock by then: it finds the file where executors begin.
    paths = [said for said in (name, cluster.spark.get(_PYTHON_PATH)) if said]
    return {"spark.submit.pyFiles": ",".join(files), _PYTHON_PATH: ":".join(paths)}
