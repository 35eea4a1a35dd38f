"""What the executors of a cluster are like, as they say it themselves."""

from __future__ import annotations

import platform
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
from pyspark.sql import SparkSession

from penstock.errors import SetupError
from penstock.spark.cluster.executors import count_executors, tasks_of
from penstock.spark.cluster.package import package_folder, package_version

PACKAGES = ("crc32c", "numpy", "pandas", "polars", "pyarrow")
"""What must be the same there, since both write what the other reads."""
_PAUSE = 0.3
_COLUMNS = "executor string, package string, shared boolean, versions map<string,string>"


@dataclass(frozen=True, slots=True)
class Seen:
    """What one executor has: who it is, where its Penstock comes from, versions, and our files."""

    executor: str
    package: str
    shared: bool
    versions: Mapping[str, str] = field(default_factory=dict)


def look_at_executors(session: SparkSession, home: Path, patience: timedelta) -> list[Seen]:
    """Ask every executor once; none that answers in time is an error."""
    context = session.sparkContext
    tasks = max(2 * count_executors(context), tasks_of(context))
    home.mkdir(parents=True, exist_ok=True)
    with _mark(home) as mark, _ended_after(session, patience):
        rows = session.range(0, tasks, 1, tasks).mapInArrow(partial(_look, str(mark)), _COLUMNS)
        found = {row["executor"]: row for row in rows.collect()}
        answers = mark.with_suffix(".answers")
        seen = {path.name for path in answers.iterdir()} if answers.is_dir() else set()
    return [
        Seen(name, row["package"], row["shared"] and name in seen, row["versions"])
        for name, row in sorted(found.items())
    ]


def describe_executors(session: SparkSession, home: Path, patience: timedelta) -> str:
    """Say who works for a session, once they are seen to be alike."""
    seen = look_at_executors(session, home, patience)
    require_alike(seen, home)
    places = sorted({one.package for one in seen})
    return f"{len(seen)} executors with Penstock from {', '.join(places)}"


def require_alike(seen: list[Seen], home: Path) -> None:
    """Refuse executors whose packages are others, or who do not see the files of the home."""
    ours = versions()
    for one in seen:
        differ = [
            f"{name} {one.versions.get(name) or 'missing'} (here {ours[name]})"
            for name in ours
            if one.versions.get(name) != ours[name]
        ]
        if differ:
            raise SetupError(
                "CLUSTER_PACKAGES",
                f'executor "{one.executor}" has other packages: {", ".join(differ)}',
                hint="Give the executors the same environment, by cluster.python or spark.archives;"
                " docs/deploy.md says how.",
            )
        if not one.shared:
            raise SetupError(
                "CLUSTER_PATH",
                f'executor "{one.executor}" and this process do not share "{home}"',
                hint="Let home be a path that all machines have in common, such as a network disk,"
                " and that the executors' user can write.",
            )


def versions() -> dict[str, str]:
    """Give what this process runs on, by name."""
    found = {"python": ".".join(platform.python_version_tuple()[:2])}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = ""
    return {**found, "penstock": package_version()}


def package_place() -> str:
    """Give where this process has Penstock from: an archive's name, or a folder."""
    place = package_folder().parent
    return place.name if place.is_file() else str(place)


def _look(mark: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Say what this executor is like; Spark runs this there."""
    for _ in batches:
        pass
    # Long enough that the tasks of the others begin elsewhere.
    time.sleep(_PAUSE)
    # Each executor begins in a folder of its own.
    name = f"{platform.node()}-{'-'.join(Path.cwd().parts[-2:])}"
    row = {
        "executor": [name],
        "package": [package_place()],
        "shared": [_answered(Path(mark), name)],
        "versions": [list(versions().items())],
    }
    kinds = [pa.string(), pa.string(), pa.bool_(), pa.map_(pa.string(), pa.string())]
    arrays = [pa.array(values, kind) for values, kind in zip(row.values(), kinds, strict=True)]
    yield pa.RecordBatch.from_arrays(arrays, names=list(row))


def _answered(mark: Path, name: str) -> bool:
    try:
        mark.with_suffix(".answers").mkdir(exist_ok=True)
        (mark.with_suffix(".answers") / name).touch()
        return mark.read_text(encoding="utf-8") == mark.name
    except OSError:
        return False


@contextmanager
def _mark(home: Path) -> Iterator[Path]:
    mark = home / f".probe-{uuid4().hex}"
    mark.write_text(mark.name, encoding="utf-8")
    try:
        yield mark
    finally:
        answers = mark.with_suffix(".answers")
        for path in (*(answers.iterdir() if answers.is_dir() else ()), mark):
            path.unlink(missing_ok=True)
        if answers.is_dir():
            answers.rmdir()


@contextmanager
def _ended_after(session: SparkSession, patience: timedelta) -> Iterator[None]:
    """End what is asked of a cluster when it takes too long: Spark itself would wait for ever."""
    late = threading.Event()

    def end() -> None:
        late.set()
        session.sparkContext.cancelAllJobs()

    timer = threading.Timer(patience.total_seconds(), end)
    timer.start()
    try:
        yield
    except Exception as error:
        if not late.is_set():
            raise
        raise SetupError(
            "CLUSTER_SILENT",
            f"no executor has answered within {patience.total_seconds():g} s",
            hint="Look into the workers' logs; a longer time is cluster.patience.",
        ) from error
    finally:
        timer.cancel()
