"""The process that Spark forks its Python workers from, with what each needs loaded already.

Spark's own loads nothing, so that every worker spends over a second of processor time on
importing Arrow, pandas and this package. Here it is spent once, and the memory is shared.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys

# A thread must not live through a fork; numpy starts some unless it is told that one will do.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

from pyspark.daemon import manager  # it must not import numpy before

TASKS = "pyspark.worker"
# Asked for every query: what the format is, and how tasks are to read it.
_FORMATS = "pyspark.sql.worker.create_data_source"
_READS = "pyspark.sql.worker.plan_data_source_read"
LOADED = (TASKS, _FORMATS, _READS)
"""What Spark runs in workers of ours."""


def load(module: str) -> None:
    """Import what the workers that run a module of Spark's use.

    polars is only imported here, not used: its threads start at its first use, in the worker.
    """
    importlib.import_module(module)
    import penstock.spark.format  # noqa: PLC0415
    import penstock.spark.program_format  # noqa: PLC0415

    if module == TASKS:
        import pandas  # noqa: F401, PLC0415  # pyarrow looks for it at the first conversion

        import penstock.spark.level  # noqa: PLC0415
    if module in (TASKS, _READS):
        import pyarrow.compute  # noqa: F401, PLC0415

        import penstock.spark.program_source  # noqa: F401, PLC0415


if __name__ == "__main__":
    if sys.argv[1:] and sys.argv[1] in LOADED:
        load(sys.argv[1])
        # A worker collects garbage after every task. With all that is loaded here to look through
        # that took 50 ms, which was half of what a small batch cost its workers.
        gc.freeze()
    manager()
