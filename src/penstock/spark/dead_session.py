"""A session that has died, or its JVM: noticed, and forgotten, so that another can be started.

A cluster ends a session by itself when too many of its executors have failed.
"""

from __future__ import annotations

import contextlib
import warnings
from typing import Any

from pyspark import SparkContext
from pyspark.sql import SparkSession, SQLContext


def is_dead() -> bool:
    """Whether this process has started a JVM that runs no more, or whose session is over."""
    gateway: Any = SparkContext._gateway  # noqa: SLF001  # py4j has no types
    process = getattr(gateway, "proc", None)
    if process is not None and process.poll() is not None:
        return True
    context: Any = SparkContext._active_spark_context  # noqa: SLF001
    with contextlib.suppress(Exception):
        return bool(context._jsc.sc().isStopped())  # noqa: SLF001
    return False


def discard_dead() -> None:
    """Let go of all that belonged to the JVM; who still waits for it gets an error."""
    context: Any = SparkContext._active_spark_context  # noqa: SLF001  # Spark offers no way
    gateway: Any = SparkContext._gateway  # noqa: SLF001
    SparkContext._gateway = None  # noqa: SLF001
    SparkContext._jvm = None  # noqa: SLF001
    with contextlib.suppress(Exception), warnings.catch_warnings():
        # It warns that the JVM is gone.
        warnings.simplefilter("ignore")
        context.stop()
    SparkContext._active_spark_context = None  # noqa: SLF001
    SparkSession._instantiatedSession = None  # noqa: SLF001
    SparkSession._activeSession = None  # noqa: SLF001
    SQLContext._instantiatedContext = None  # noqa: SLF001
    with contextlib.suppress(Exception):
        gateway.shutdown()
        # A JVM that still runs ends when nobody holds its input any more.
        gateway.proc.stdin.close()
