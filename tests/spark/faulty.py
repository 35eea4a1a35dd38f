"""The format `faulty`: as `penstock`, but it fails once at the step named in a file.

Spark's workers cannot import the tests, so this module travels to them by value.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyspark import cloudpickle
from pyspark.sql.types import StructType

from penstock.log.open import open_log
from penstock.spark.format import PenstockFormat
from penstock.spark.options import sink_options, source_options
from penstock.spark.sink import TopicStreamWriter
from penstock.spark.source import TopicStreamReader

FAULT = "fault"
STEPS = (
    "plan",
    "read",
    "after read",
    "write",
    "after write",
    "commit",
    "begin",
    "append",
    "after append",
    "decide",
    "after decide",
    "after commit",
    "source commit",
)


def arm(home: Path, step: str) -> None:
    """Let the next pass through a step fail."""
    (home / FAULT).write_text(step)


def is_armed(home: Path) -> bool:
    return (home / FAULT).exists()


def reach(home: str, step: str) -> None:
    file = Path(home) / FAULT
    if file.exists() and file.read_text() == step:
        file.unlink()
        raise RuntimeError(f"fault at {step}")


class FaultyTransaction:
    def __init__(self, inner: Any, home: str) -> None:
        self._inner = inner
        self._home = home

    def begin(self) -> None:
        reach(self._home, "begin")
        self._inner.begin()

    def append(self, *arguments: Any) -> Any:
        reach(self._home, "append")
        done = self._inner.append(*arguments)
        reach(self._home, "after append")
        return done

    def commit(self, note: str) -> None:
        reach(self._home, "decide")
        self._inner.commit(note)
        reach(self._home, "after decide")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class FaultyLog:
    def __init__(self, home: str) -> None:
        self._inner = open_log(home)
        self._home = home

    def transaction(self, name: str) -> FaultyTransaction:
        return FaultyTransaction(self._inner.transaction(name), self._home)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class FaultyReader(TopicStreamReader):
    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Any:  # type: ignore[explicit-override]
        reach(self._options.home, "plan")
        return super().partitions(start, end)

    def read(self, partition: Any) -> Iterator[Any]:  # type: ignore[explicit-override]
        reach(self._options.home, "read")
        yield from super().read(partition)
        reach(self._options.home, "after read")

    def commit(self, end: dict[str, Any]) -> None:  # type: ignore[explicit-override]
        reach(self._options.home, "source commit")
        super().commit(end)


class FaultyWriter(TopicStreamWriter):
    def write(self, iterator: Any) -> Any:  # type: ignore[explicit-override]
        reach(self._options.home, "write")
        message = super().write(iterator)
        reach(self._options.home, "after write")
        return message

    def commit(self, messages: Any, batchId: int) -> None:  # type: ignore[explicit-override]
        reach(self._options.home, "commit")
        super().commit(messages, batchId)
        reach(self._options.home, "after commit")


class FaultyFormat(PenstockFormat):
    @classmethod
    def name(cls) -> str:  # type: ignore[explicit-override]
        return "faulty"

    @staticmethod
    def log_of(home: str) -> Any:  # type: ignore[explicit-override]
        return FaultyLog(home)

    def streamReader(self, schema: StructType) -> FaultyReader:  # type: ignore[explicit-override]
        return FaultyReader(source_options(self.options), schema, self.log_of)

    def streamWriter(self, schema: StructType, overwrite: bool) -> FaultyWriter:  # type: ignore[explicit-override]  # noqa: FBT001
        return FaultyWriter(sink_options(self.options), schema, self.log_of)


cloudpickle.register_pickle_by_value(sys.modules[__name__])
