"""Checks of what Penstock runs on: Python, Java, packages and Spark."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from penstock.config import Settings
from penstock.errors import PenstockError, SetupError
from penstock.spark.java import require_java

if TYPE_CHECKING:
    import pyarrow as pa

MINIMUM_PYTHON = (3, 11)
PACKAGES = ("crc32c", "numpy", "pandas", "pyarrow", "pyspark")


def check_python(_: Settings) -> str:
    """The interpreter is one that Penstock is tested with."""
    if sys.version_info < MINIMUM_PYTHON:
        raise SetupError(
            "PYTHON_TOO_OLD",
            f"Penstock needs Python 3.11 or newer; this is {platform.python_version()}",
            hint="Install Python 3.11 or newer and make the environment again with it.",
        )
    return f"{platform.python_version()} ({sys.executable})"


def check_java(_: Settings) -> str:
    """Spark will find a Java that is new enough."""
    java = require_java()
    return f"{java.version} ({java.path})"


def check_packages(_: Settings) -> str:
    """Every package can be imported, and PySpark gets a pandas it knows."""
    for name in PACKAGES:
        _import(name)
    if int(version("pandas").partition(".")[0]) > 2:  # noqa: PLR2004  # the last PySpark 4.3 knows
        raise SetupError(
            "PACKAGE_VERSION",
            f"PySpark {version('pyspark')} does not work with pandas {version('pandas')}",
            hint=f"Run: {sys.executable} -m pip install 'pandas<3'",
        )
    return ", ".join(f"{name} {version(name)}" for name in PACKAGES)


def check_spark(settings: Settings) -> str:
    """A session starts and its Python workers answer."""
    # Loaded here only, since it takes Spark with it.
    from penstock.spark.cluster.master import is_local  # noqa: PLC0415
    from penstock.spark.cluster.probe import describe_executors  # noqa: PLC0415
    from penstock.spark.cluster.settings import cluster_of  # noqa: PLC0415
    from penstock.spark.session import spark_session, stop_session  # noqa: PLC0415

    cluster = cluster_of(settings.cluster)
    try:
        session = spark_session(
            master=settings.spark_master,
            driver_memory=settings.spark_driver_memory,
            cluster=cluster,
        )
        elsewhere = not is_local(settings.spark_master)
        found = (
            ": " + describe_executors(session, settings.home, cluster.patience) if elsewhere else ""
        )
        # Through Python workers, which fail where another interpreter lacks a package.
        session.range(2).mapInArrow(_echo, "id long").count()
    except PenstockError:
        raise
    except Exception as error:
        # Whatever Spark or Java throws; the first line is what happened, the rest its stack.
        first = next(iter(str(error).splitlines()), "")
        raise SetupError(
            "SPARK_START",
            f"Spark does not run a job: {type(error).__name__}: {first}",
            hint="Unset PYSPARK_PYTHON or let it lead to this Python; --debug shows Spark's words.",
        ) from error
    finally:
        stop_session()
    return f"{version('pyspark')} runs a job on {settings.spark_master}{found}"


def _echo(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    return batches


def _import(name: str) -> None:
    try:
        import_module(name)
        version(name)
    except (ModuleNotFoundError, PackageNotFoundError) as error:
        raise SetupError(
            "PACKAGE_MISSING",
            f'package "{name}" is not installed for {sys.executable}',
            hint=f"Run: {sys.executable} -m pip install 'penstock[spark]'",
        ) from error
    except ImportError as error:
        raise SetupError(
            "PACKAGE_BROKEN",
            f'package "{name}" does not load: {error}',
            hint=f"Run: {sys.executable} -m pip install --force-reinstall {name}",
        ) from error
