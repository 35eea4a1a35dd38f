"""Makes the class-data archive of this user's Spark: `python -m penstock.spark.make_archive`.

A small program is run in a session of its own, so that the classes of micro-batches are in the
archive; the JVM writes it at its end. A session of a user never does: it takes seconds.
"""

from __future__ import annotations

import fcntl
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark import SparkContext

from penstock.errors import PenstockError
from penstock.log.open import open_log
from penstock.model.aggregate import Aggregate
from penstock.model.measure import Measure
from penstock.model.plan import Plan, Sink
from penstock.model.source import Stream
from penstock.model.watermark import BoundedDisorder
from penstock.model.window import Tumbling
from penstock.plan.planner import plan
from penstock.schema.arrow import from_arrow
from penstock.spark.home import stable_home
from penstock.spark.java import require_java
from penstock.spark.jvm.archive import TO_MAKE, Archive, archive_of, remove_old
from penstock.spark.jvm.classes import are_made, classes_folder, make_classes, on_class_path
from penstock.spark.run import start
from penstock.spark.session import spark_session, stop_session

# What others put behind Spark's jars is in no archive.
_ELSEWHERE = ("HADOOP_CONF_DIR", "YARN_CONF_DIR", "SPARK_CONF_DIR", "SPARK_DIST_CLASSPATH")
_VIEWS = pa.schema([("page", pa.string()), ("at", pa.timestamp("ms", tz="UTC"))])
_MASTER = "local[2]"


def make_archive() -> Path | None:
    """Make the archive where it is not there yet; None where there cannot be one."""
    for name in _ELSEWHERE:
        os.environ.pop(name, None)
    home = stable_home()
    if home is None:
        return None
    with tempfile.TemporaryDirectory() as place, _alone(home):
        classes = classes_folder(Path(place))
        if not are_made(classes):
            make_classes(spark_session(master=_MASTER).sparkContext, classes)
            stop_session()
        archive = archive_of(home, on_class_path(classes), require_java())
        if archive is not None and archive.found() is None:
            _make(archive, Path(place))
            remove_old()
    return None if archive is None else archive.found()


def _make(archive: Archive, place: Path) -> None:
    # What a maker that was killed has left: nobody else is at work.
    fresh = archive.home / "fresh.jsa"
    fresh.unlink(missing_ok=True)
    spark = spark_session(master=_MASTER, settings={TO_MAKE: str(fresh)})
    java: Any = SparkContext._gateway  # noqa: SLF001  # nobody else knows the JVM's process
    try:
        _run_program(place)
        spark.sql("select count(*), max(id) from range(10) group by id % 2").collect()
    finally:
        # The JVM writes at its end, which is waited for.
        stop_session()
    if java.proc.returncode == 0 and fresh.exists():
        archive.put(fresh)


def _run_program(place: Path) -> None:
    """Views a page and window, of one row: what any program needs of Spark."""
    views = Stream("views", from_arrow(_VIEWS), "at", BoundedDisorder(timedelta(seconds=1)))
    window = Tumbling(timedelta(seconds=10))
    counts = Aggregate(views, ("page",), (Measure("views", "count"),), window)
    with open_log(place / "home") as log:
        log.create_topic("views", partitions=2, schema=_VIEWS)
        log.append("views", 0, pa.table({"page": ["/"], "at": [0]}).cast(_VIEWS))
        program = plan(Plan("archive", (Sink(counts, "counts"),)))
        query = start(program, home=place / "home", checkpoint=place / "checkpoint", bounded=True)
        query.await_end()


@contextmanager
def _alone(home: Path) -> Iterator[None]:
    """Keep a second maker waiting: it finds the archive that the first has made."""
    with (home / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def main() -> None:
    """Say what was made; that it cannot be made is no failure, as sessions start without it."""
    began = time.monotonic()
    try:
        file = make_archive()
    except (PenstockError, OSError) as error:
        sys.stdout.write(f"no class-data archive: {error}\n")
        return
    said = "no class-data archive: Spark is not the one of this package, or the cache no place"
    if file is not None:
        size = file.stat().st_size // 2**20
        said = f"class-data archive of {size} MiB ({time.monotonic() - began:.0f} s): {file}"
    sys.stdout.write(f"{said}\n")


if __name__ == "__main__":
    main()
