"""A program run in this process, on clocks that move only when told to.

The same kernel as on Spark, without Spark: rows are pushed, watermarks and the clock are
advanced, and what comes out is read, all in milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

import polars as pl

from penstock.errors import RunError, TopicError, UsageError, did_you_mean
from penstock.kernel.batch import READ, Done, Input, Memory, run_batch
from penstock.kernel.parcel import Parcel
from penstock.kernel.port import (
    END_OF_TIME,
    START_OF_TIME,
    WEIGHT,
    Counts,
    Frame,
    Time,
)
from penstock.kernel.program import Program
from penstock.kernel.watermark import Place, Watermarks, explain_text
from penstock.log.record import TopicPartition
from penstock.model.physical import Physical, Scan, Settings
from penstock.model.plan import Plan
from penstock.plan.planner import plan
from penstock.schema.codec.schemas import Schemas
from penstock.spark.inputs import file_topic
from penstock.spark.state_codec import StateCodec
from penstock.testing.arriving import Arriving
from penstock.testing.moment import Moment, Span, millis, span_millis
from penstock.testing.outbox import Outbox, Row
from penstock.testing.pushed import Pushed

COMMIT = "commit"
"""The name of the last step of a batch: its results are written, its state is not yet."""


class HasPlan(Protocol):
    """What an application offers."""

    def plan(self) -> Plan:
        """Give the program that was written."""


class CrashedError(Exception):
    """The process under test died here; the driver starts it again."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A program's memory as it is stored: bytes that `restore` reads."""

    states: Mapping[tuple[str, int], bytes]
    wakes: Mapping[tuple[str, int], int]
    watermarks: Frame
    time: Time


class TestDriver:
    """Runs a program in virtual time: push, advance, look.

    Without `clock` the clock begins at 0 and no event time is too far ahead of it. With
    `watermarks="manual"` only `advance_watermark` moves them, not the rows. Formats with a
    subject find it in `schemas`.
    """

    __test__ = False  # not a test to be collected by pytest, in spite of its name

    def __init__(
        self,
        program: Plan | HasPlan,
        *,
        settings: Settings | None = None,
        clock: Moment | None = None,
        watermarks: Literal["automatic", "manual"] = "automatic",
        schemas: Schemas | None = None,
    ) -> None:
        written = program if isinstance(program, Plan) else program.plan()
        self.physical: Physical = plan(written, settings or Settings())
        self._program = Program(self.physical)
        self._codecs = {keyed.id: StateCodec(keyed) for keyed in self.physical.operators}
        self._bounded = clock is not None
        self._heard = watermarks == "automatic"
        self._outbox = Outbox(self.physical.outputs)
        self._counts: dict[str, Counts] = {}
        self._crash_at: str | None = None
        self._arriving = Arriving(self.physical, schemas)
        now = 0 if clock is None else millis(clock)
        self._memory = Memory(self._start(now), Time(START_OF_TIME, now))

    def push(
        self, topic: str, rows: Pushed, *, partition: int = 0, at: Moment | None = None
    ) -> None:
        """Give rows to a partition of a topic: one batch through the whole program.

        For a topic of bytes they may be values, which are bytes, or whole records.
        `at` says when the log took them; the clock goes there first if it is behind.
        """
        self.push_together({(topic, partition): rows}, at=at)

    def delete(self, topic: str, keys: Pushed, *, partition: int = 0) -> None:
        """Give tombstones to a topic that is read as a table: rows that hold its key alone."""
        if not any(scan.stream.key for scan in self._scans(topic)):
            raise UsageError(
                "TABLE_MISSING",
                f'topic "{topic}" is not read as a table, so nothing can be deleted from it',
                hint="Read it with app.table(...), or push rows.",
            )
        rows = [keys] if isinstance(keys, Mapping) else keys
        gone = pl.DataFrame(rows).with_columns(pl.lit(-1, pl.Int32).alias(WEIGHT))
        self.push(topic, gone, partition=partition)

    def push_together(
        self, given: Mapping[tuple[str, int], Pushed], *, at: Moment | None = None
    ) -> None:
        """Give rows to several partitions, named by topic and number, as one batch."""
        for topic, _ in given:
            self._scans(topic)
        if at is not None and millis(at) > self.clock:
            self.advance_clock(to=at)
        taken = self.clock if at is None else millis(at)
        arrivals = [
            arrival
            for (topic, partition), rows in given.items()
            for arrival in self._arriving.of(
                TopicPartition(topic, partition), rows, self._scans(topic), taken
            )
        ]
        self._run(self._input(arrivals=arrivals))

    def read_files(self) -> None:
        """Give all rows of the files that the program reads, as one batch; `finish` ends them."""
        sources = {scan.stream.topic: scan.stream for scan in self.physical.scans}
        topics = [file_topic(stream) for stream in sources.values() if stream.files is not None]
        self.push_together(
            {
                (topic.name, partition): topic.table(partition)
                for topic in topics
                for partition in range(len(topic.files))
            }
        )

    def advance_watermark(self, to: Moment, *, topic: str | None = None) -> None:
        """Say that nothing before `to` will come any more, from one topic or from all."""
        if millis(to) >= END_OF_TIME:
            raise UsageError(
                "WATERMARK_END",
                "the watermark was to be put at the end of time",
                hint="Call `finish` to end the input.",
            )
        self._claim(millis(to), self.physical.scans if topic is None else self._scans(topic))

    def advance_clock(self, by: Span | None = None, *, to: Moment | None = None) -> None:
        """Let time pass; what falls due on the way happens in its order."""
        if (by is None) == (to is None):
            raise UsageError(
                "CLOCK_STEP",
                "the clock is to be advanced by a span or to a time",
                hint="Give one of `by` and `to`.",
            )
        self._bounded = self._bounded or to is not None
        target = millis(to) if to is not None else self.clock + span_millis(by or 0)
        if target < self.clock:
            raise UsageError(
                "CLOCK_BACK",
                f"the clock is at {self.clock} and was to go back to {target}",
                hint="Give a later time: a program's clock never goes back.",
            )
        while (due := self._memory.wake_at) is not None and due <= target:
            self._run(self._input(clock=max(due, self.clock)))
            if self._memory.wake_at == due:
                # What is still due at its own time will not be done by asking again.
                break
        if target > self.clock:
            self._run(self._input(clock=target))

    def finish(self) -> None:
        """End the input: every window closes."""
        self._claim(END_OF_TIME, self.physical.scans)

    def rows(self, topic: str) -> list[Row]:
        """Give all rows written to a topic; those of a changelog with `_weight`."""
        return self._outbox.rows(topic, self._outbox.frame(topic))

    def changes(self, topic: str) -> list[Row]:
        """Give all rows written to a topic with their weight, event time and pane."""
        return self._outbox.changes(topic, self._outbox.frame(topic))

    def take(self, topic: str) -> list[Row]:
        """Give what was written to a topic since the last `take`, as `changes` does."""
        return self._outbox.changes(topic, self._outbox.new(topic))

    def table(self, topic: str) -> list[Row]:
        """Give the table that the rows written to a topic amount to."""
        return self._outbox.table(topic).to_dicts()

    def frame(self, topic: str) -> Frame:
        """Give all rows written to a topic as a polars frame, control columns included."""
        return self._outbox.frame(topic)

    def late(self, topic: str) -> list[Row]:
        """Give the rows that came too late on the way to a topic."""
        return self._outbox.late(topic)

    def dead_letters(self, topic: str) -> list[Row]:
        """Give the rows that failed on the way to a topic, each with its error."""
        return self._outbox.dead(topic)

    def state(self, operator: str) -> dict[str, Frame]:
        """Give the tables an operator remembers, its buckets put together."""
        known = [keyed.id for keyed in self.physical.operators]
        if operator not in known:
            raise UsageError(
                "OPERATOR_MISSING",
                f'the program has no operator with state "{operator}"',
                hint=did_you_mean(operator, known) or f"It has {', '.join(known) or 'none'}.",
            )
        tables: dict[str, list[Frame]] = {}
        for (id_, _), state in sorted(self._memory.states.items(), key=lambda item: item[0]):
            for name, table in state.tables.items() if id_ == operator else ():
                tables.setdefault(name, []).append(table)
        return {name: pl.concat(parts, how="diagonal") for name, parts in tables.items()}

    def counts(self) -> dict[str, Counts]:
        """Give the accounting of every step so far."""
        return dict(self._counts)

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics that the program writes."""
        return self._outbox.topics

    @property
    def clock(self) -> int:
        """The processing time in milliseconds."""
        return self._memory.time.clock

    @property
    def watermark(self) -> int:
        """How far event time is, in milliseconds."""
        return self._memory.time.watermark

    @property
    def wake_at(self) -> int | None:
        """The clock time at which something is due although no row comes."""
        return self._memory.wake_at

    def explain_watermark(self) -> str:
        """Say which partition holds the watermark, and since when."""
        return explain_text(self._memory.watermarks, self.clock)

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps of a batch after which it can crash."""
        return (READ, *(keyed.id for keyed in self.physical.operators), COMMIT)

    def crash_after(self, step: str) -> None:
        """Let the next batch die after a step, be started again and replayed."""
        if step not in self.steps:
            raise UsageError(
                "CRASH_STEP",
                f'a batch has no step "{step}"',
                hint=did_you_mean(step, self.steps) or f"Its steps: {', '.join(self.steps)}.",
            )
        self._crash_at = step

    def snapshot(self) -> Snapshot:
        """Give the program's memory as it would be stored."""
        memory = self._memory
        states = {
            place: self._codecs[place[0]].encode(state) for place, state in memory.states.items()
        }
        return Snapshot(states, memory.wakes, memory.watermarks.to_frame(), memory.time)

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a memory; what was written stays written.

        It may be that of the program before a change, whose states become those of this one.
        """
        marks = Watermarks.from_frame(self.physical.scans, snapshot.watermarks)
        self._memory = Memory(
            replace(marks, idle=self._memory.watermarks.idle),
            snapshot.time,
            {
                place: self._codecs[place[0]].decode(blob)[0]
                for place, blob in snapshot.states.items()
            },
            snapshot.wakes,
        )

    def _claim(self, watermark: int, scans: Sequence[Scan]) -> None:
        claims: dict[Place, int] = {}
        marks = self._memory.watermarks.marks
        for scan in scans:
            known = [place for place in marks if place[0] == scan.id]
            claims.update(dict.fromkeys(known or [(scan.id, 0)], watermark))
        reached = min((marks[place].watermark for place in claims if place in marks), default=None)
        if reached is not None and watermark < reached:
            raise UsageError(
                "WATERMARK_BACK",
                f"the watermark is at {reached} and was to go back to {watermark}",
                hint="Give a later time: what was said to be complete stays so.",
            )
        self._run(self._input(claims=claims))

    def _run(self, given: Input) -> None:
        if self._crash_at is None:
            self._keep(run_batch(self._program, self._memory, given))
            return
        stored = self.snapshot()
        written: Sequence[Parcel] | None = None
        try:
            done = run_batch(self._program, self._memory, given, self._die)
            written = done.parcels
            self._die(COMMIT)
        except CrashedError:
            # A new process: nothing is left but what was stored.
            self._program = Program(self.physical)
            self.restore(stored)
            done = run_batch(self._program, self._memory, given)
        if written is not None:
            _require_same(written, done.parcels)
        self._keep(done)

    def _keep(self, done: Done) -> None:
        self._memory = done.memory
        self._outbox.put(done.parcels)
        for step, counts in done.counts.items():
            self._counts[step] = self._counts.get(step, Counts()) + counts

    def _die(self, step: str) -> None:
        if step == self._crash_at:
            self._crash_at = None
            raise CrashedError(step)

    def _input(self, clock: int | None = None, **given: Any) -> Input:  # noqa: ANN401
        now = self.clock if clock is None else clock
        return Input(now, bounded=self._bounded, heard=self._heard, **given)

    def _start(self, clock: int) -> Watermarks:
        marks = Watermarks.start(self.physical.scans, clock)
        # Where watermarks are said outright, silence does not mean that a topic is idle.
        return marks if self._heard else replace(marks, idle=dict.fromkeys(marks.idle))

    def _scans(self, topic: str) -> tuple[Scan, ...]:
        found = tuple(scan for scan in self.physical.scans if scan.stream.topic == topic)
        if found:
            return found
        topics = sorted({scan.stream.topic for scan in self.physical.scans})
        raise TopicError(
            "TOPIC_MISSING",
            f'the program reads no topic "{topic}"',
            hint=did_you_mean(topic, topics) or f"It reads {', '.join(topics)}.",
        )


def _require_same(written: Sequence[Parcel], again: Sequence[Parcel]) -> None:
    same = len(written) == len(again) and all(
        one.target == other.target and one.frame.equals(other.frame)
        for one, other in zip(written, again, strict=True)
    )
    if not same:
        raise RunError(
            "REPLAY_DIFFERS",
            "a batch that was done again gave other rows than the first time",
            hint="A function of the program depends on something else than its rows: "
            "the time, chance, or what it saw before.",
        )
