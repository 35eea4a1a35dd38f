"""The parts of a program's run that fail once, at the commit step that a file of the home names.

They are for tests: a program that fails at any step and is started again, in one live session,
must give what it would have given. `penstock.testing.job_crash` uses them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pyspark import TaskContext
from pyspark.sql import DataFrame
from pyspark.sql.datasource import InputPartition
from pyspark.sql.streaming.datasource import ReadLimit
from typing_extensions import override

from penstock.log.port import Appended, Log, Transaction
from penstock.log.record import TopicPartition
from penstock.log.topic import Topic
from penstock.spark.dispatch import Dispatch
from penstock.spark.handle import worker_log
from penstock.spark.level import Level
from penstock.spark.packet import Packet
from penstock.spark.program_format import ProgramFormat
from penstock.spark.program_offset import ProgramOffset
from penstock.spark.program_options import ProgramOptions
from penstock.spark.program_sink import ProgramSink
from penstock.spark.program_source import ProgramReader
from penstock.spark.program_split import NEVER_WHOLE
from penstock.spark.run import Parts

if TYPE_CHECKING:
    import pyarrow as pa

BEFORE_OFFSETS = "offsets not yet written"
STAGING = "staging rows"
LOG_STEPS = ("begin", "append", "after append", "decide", "after decide")
"""The steps of the log's transaction, which only a batch with results has."""
_FAULT = "fault"


def commit_steps(levels: int) -> tuple[str, ...]:
    """Give all steps of a batch in their order, of a program with so many levels of operators.

    Rows are only staged where a task has many.
    """
    operators = [
        step for level in range(levels) for step in (f"level {level}", f"level {level} done")
    ]
    return (
        BEFORE_OFFSETS,
        "offsets written",
        "reading",
        STAGING,
        "rows read",
        *operators,
        "sink called",
        "progress not yet written",
        "progress written",
        *LOG_STEPS,
        "commit log not yet written",
    )


def arm(home: Path, step: str) -> None:
    """Let the next pass through a step fail."""
    (home / _FAULT).write_text(step, encoding="utf-8")


def disarm(home: Path) -> None:
    """Let none fail."""
    (home / _FAULT).unlink(missing_ok=True)


def is_armed(home: Path) -> bool:
    """Whether a step is still to fail."""
    return (home / _FAULT).exists()


def fault_at(step: str) -> str:
    """Give what is said where a step fails."""
    return f"fault at {step}"


def reach(home: str, step: str, begun: float = math.inf) -> None:
    """Fail if it is the step that is to; only the first that comes here does.

    A task says when it has begun: one that a failed run has left behind, and that nobody hears
    any more, does not take the fault from the next run.
    """
    file = Path(home) / _FAULT
    try:
        if file.read_text(encoding="utf-8") != step or file.stat().st_mtime > begun:
            return
        file.unlink()
    except FileNotFoundError:
        # Not armed, or another task has come here first.
        return
    raise RuntimeError(fault_at(step))


class FailingTransaction:
    """A transaction that fails at its steps."""

    def __init__(self, inner: Transaction, home: str) -> None:
        self._inner = inner
        self._home = home

    @property
    def note(self) -> str:
        """The note of the last transaction."""
        return self._inner.note

    def begin(self) -> None:
        """Open a transaction."""
        reach(self._home, "begin")
        self._inner.begin()

    def append(self, topic: str, partition: int, rows: pa.Table) -> Appended:
        """Append rows that nobody sees yet."""
        reach(self._home, "append")
        done = self._inner.append(topic, partition, rows)
        reach(self._home, "after append")
        return done

    def commit_offsets(self, group: str, offsets: Mapping[TopicPartition, int]) -> None:
        """Let offsets be committed with the rows."""
        self._inner.commit_offsets(group, offsets)

    def commit(self, note: str) -> None:
        """Make all visible."""
        reach(self._home, "decide")
        self._inner.commit(note)
        reach(self._home, "after decide")

    def abort(self) -> None:
        """Make all vanish."""
        self._inner.abort()

    def close(self) -> None:
        """Let go of the transaction."""
        self._inner.close()


class FailingLog:
    """A log whose transactions fail; where its inputs are told, a task that stages rows does."""

    def __init__(self, home: str, inputs: frozenset[str] | None = None) -> None:
        self._inner = worker_log(home)
        self._home = home
        self._inputs = inputs

    def transaction(self, name: str) -> FailingTransaction:
        """Give a transaction."""
        return FailingTransaction(self._inner.transaction(name), self._home)

    def topic(self, name: str) -> Topic:
        """Give a topic; a task asks for those it writes when it stages rows."""
        if self._inputs is not None and name not in self._inputs and TaskContext.get() is not None:
            reach(self._home, STAGING)
        return self._inner.topic(name)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  # whatever a log has
        return getattr(self._inner, name)


class FailingReader(ProgramReader):
    """Plans and reads batches, and fails before and after; every other one is a whole."""

    def __init__(self, options: ProgramOptions, log_of: Callable[[str], Log]) -> None:
        super().__init__(options, log_of, _failing_level)
        inputs = frozenset(topic for _, topic in options.scans)
        if log_of is FailingFormat.log_of:
            self._log_of = cast(Callable[[str], Log], partial(FailingLog, inputs=inputs))

    @override
    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        found = super().latestOffset(start, limit)
        if found != start:
            reach(self._options.home, BEFORE_OFFSETS)
        return found

    @override
    def _whole_rows(self, begin: ProgramOffset) -> int | None:
        # Both ways that a batch may take are to fail; one that is run again takes its own.
        found = super()._whole_rows(begin)
        return found if found is None or self._options.files.begun % 2 else NEVER_WHOLE

    @override
    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        reach(self._options.home, "offsets written")
        return super().partitions(start, end)

    @override
    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        begun = time.time()
        reach(self._options.home, "reading")
        yield from super().read(partition)
        reach(self._options.home, "rows read", begun)


class FailingFormat(ProgramFormat):
    """What a program that fails reads from."""

    @classmethod
    @override
    def name(cls) -> str:
        return "penstock-failing"

    @staticmethod
    @override
    def log_of(home: str) -> Log:
        return cast(Log, FailingLog(home))

    @override
    def streamReader(self, schema: object) -> FailingReader:
        return FailingReader(ProgramOptions.from_texts(self.options), self.log_of)


class FailingLevel(Level):
    """A level of operators that fails before and after a task."""

    @override
    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        begun = time.time()
        reach(self.home, f"level {self.number}")
        yield from Level.__call__(self, batches)
        reach(self.home, f"level {self.number} done", begun)

    @override
    def through(
        self, dispatch: Dispatch, sent: Sequence[tuple[int, Packet]]
    ) -> list[tuple[int, Packet]]:
        begun = time.time()
        reach(self.home, f"level {self.number}")
        left = Level.through(self, dispatch, sent)
        reach(self.home, f"level {self.number} done", begun)
        return left


def _failing_level() -> type[Level]:
    return FailingLevel


class FailingSink(ProgramSink):
    """Ends batches, and fails before and after each of its steps."""

    @override
    def __call__(self, rows: DataFrame, number: int) -> None:
        reach(self.options.home, "sink called")
        ProgramSink.__call__(self, rows, number)
        reach(self.options.home, "commit log not yet written")

    @override
    def commit(self, packets: Sequence[Packet], number: int, millis: int = 0) -> None:
        reach(self.options.home, "progress not yet written")
        ProgramSink.commit(self, packets, number, millis)

    @override
    def publish(self, packets: Sequence[Packet], clock: int, number: int) -> None:
        reach(self.options.home, "progress written")
        ProgramSink.publish(self, packets, clock, number)


FAILING = Parts(FailingFormat, FailingLevel, FailingSink)
"""All parts of a run, failing where they are told to."""
