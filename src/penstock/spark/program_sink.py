"""The end of every batch: all that it gave becomes visible at one instant, once.

Spark calls `commit` in this process with the packets of a batch. Results, late rows and dead
letters are appended in one transaction whose note is the batch's number: a batch that is run
again finds its number noted. A store notes it in the transaction of its rows. docs of
`spark.progress_file` say what is written when.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from time import monotonic
from typing import TypeAlias

import polars as pl
import pyarrow as pa
from pyspark.sql import DataFrame

from penstock.connect.results import Writer, stored_tables, write_batch
from penstock.connect.table import StoredTable
from penstock.kernel.port import Frame
from penstock.log.port import Log
from penstock.model.physical import Physical
from penstock.schema.codec.codec_cache import CodecCache
from penstock.spark.acknowledge import Acknowledging
from penstock.spark.answered import answered
from penstock.spark.aside import store_target
from penstock.spark.batch_time import watermarks_after
from penstock.spark.delivery import NOTHING, Delivery
from penstock.spark.frame_file import clear
from penstock.spark.handle import codecs_of
from penstock.spark.lag_group import commit_lag, with_available
from penstock.spark.leave import left_by
from penstock.spark.levels import Levels
from penstock.spark.notes import Notes, gathered, notes_file, write_notes
from penstock.spark.outlet import Outlet
from penstock.spark.output import outlets
from penstock.spark.packet import Packet, batch_of, in_order, merged_candidates
from penstock.spark.program_options import ProgramOptions
from penstock.spark.progress_file import Left, left_before, write_left
from penstock.spark.stage import discard, staged_rows
from penstock.spark.upstream import Again, read_again

Appends: TypeAlias = dict[tuple[str, int], list[pa.Table]]


@dataclass(frozen=True, slots=True)
class ProgramSink:
    """Ends the batches of one program; the job's name is in its transactions."""

    physical: Physical
    options: ProgramOptions
    levels: Levels
    log_of: Callable[[str], Log]
    notify: Callable[[Left], None] = lambda _: None
    outlets: Mapping[str, Outlet] = field(init=False)
    tables: Mapping[str, StoredTable] = field(init=False)
    codecs: CodecCache = field(init=False)
    delivery: Delivery = field(init=False)
    acknowledging: Acknowledging = field(init=False)
    first: int = field(init=False)
    """The number that the first batch of this generation has in the job."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "outlets", outlets(self.physical))
        object.__setattr__(self, "tables", stored_tables(self.physical))
        log_of = partial(self.log_of, self.options.home)
        codecs = codecs_of(log_of, self.physical.settings.registry)
        object.__setattr__(self, "codecs", codecs)
        again = read_again(self.options.files)
        object.__setattr__(self, "first", 0 if again is None else again.first)
        object.__setattr__(self, "delivery", _delivery(self.options, again))
        found = Acknowledging(log_of, self.physical, again, trim=self.options.trim)
        object.__setattr__(self, "acknowledging", found)

    def __call__(self, rows: DataFrame, number: int) -> None:
        """Run a batch and end it; Spark calls this."""
        begun = monotonic()
        blobs = self.levels.packets(rows)
        millis = round(1000 * (monotonic() - begun))
        answered(lambda: self.commit(in_order(blobs), number, millis))
        clear(self.options.frames)

    def commit(self, packets: Sequence[Packet], number: int, millis: int = 0) -> None:
        """End a batch: first what the next one needs to know, then its rows."""
        batch = batch_of(packets)
        after = watermarks_after(batch, self.physical.scans, merged_candidates(packets))
        before = left_before(self.options.files)
        log = self.log_of(self.options.home)
        left = left_by(number, packets, (batch, after), before, millis)
        left = with_available(left, log, self.physical)
        self.acknowledging.note(self.first + number, left)
        if self.physical.levels:
            write_notes(notes_file(self.options.files, left.at), _notes(packets))
        write_left(self.options.files.progress, left)
        self.publish(packets, batch.clock, self.first + number)
        commit_lag(log, self.physical, left, before)
        self.acknowledging.done(left, before)
        self.notify(left)

    def publish(self, packets: Sequence[Packet], clock: int, number: int) -> None:
        """Make the rows of a batch visible, unless they are."""
        staged = [packet.staged for packet in packets if packet.staged is not None]
        if not self.delivery.is_silent(number):
            appends, stored = self._rows(packets, clock)
            if stored:
                self._persist(stored, number)
            self.delivery.deliver(self.log_of(self.options.home), appends, number)
        if staged:
            discard(self.options.home, self.options.staging, staged)

    def _persist(self, stored: Mapping[str, list[Frame]], number: int) -> None:
        changes = []
        for target, frames in stored.items():
            table = self.tables[target]
            whole = pl.concat([frame.select(table.needed()) for frame in frames])
            changes.append((table, whole))
        write_batch(changes, Writer(self.options.job), number)

    def _rows(
        self, packets: Sequence[Packet], clock: int
    ) -> tuple[Appends, Mapping[str, list[Frame]]]:
        """Give the rows of a batch by partition or by table in a store, sender by sender."""
        appends: Appends = defaultdict(list)
        frames: dict[str, list[Frame]] = defaultdict(list)
        stored: dict[str, list[Frame]] = defaultdict(list)
        for packet in packets:
            for target, frame in packet.parcels:
                (stored if target in self.tables else frames)[target].append(frame)
            for topic, partition, table in staged_rows([packet.staged] if packet.staged else []):
                kept = store_target(topic)
                if kept is None:
                    appends[topic, partition].append(table)
                else:
                    stored[kept].append(_frame(table))
        log = self.log_of(self.options.home)
        for target, parts in frames.items():
            outlet = self.outlets[target]
            whole = pl.concat([part.select(outlet.columns) for part in parts])
            for topic, partition, rows in outlet.routed(log, whole, clock, self.codecs):
                appends[topic, partition].append(pa.Table.from_batches([rows]))
        return appends, stored


def _notes(packets: Sequence[Packet]) -> Notes:
    accounts = (packet.account for packet in packets if packet.account is not None)
    return gathered(note for account in accounts for note in account.notes)


def _delivery(options: ProgramOptions, again: Again | None) -> Delivery:
    silent = NOTHING if again is None else again.silent_until
    # Of a job and its standby only the one that holds the transaction may give anything.
    once = options.recovery == "active"
    return Delivery(options.job, "exactly-once" if once else options.guarantee, silent)


def _frame(table: pa.Table) -> Frame:
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame
