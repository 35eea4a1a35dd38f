"""A job with a hot standby: two processes with the same input, of which one publishes.

Both call `start_active`. The first leads; the second is given what that has, follows its batches,
and takes over where it dies or hangs. Started again, the first is the standby.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from penstock.connect.results import stored_tables
from penstock.errors import RunError
from penstock.log.port import Log
from penstock.model.job_settings import JOB_SETTINGS, JobSettings
from penstock.model.physical import Physical
from penstock.model.progress import Progress
from penstock.spark.admission import BatchLimits
from penstock.spark.file_clock import FileClock
from penstock.spark.job_files import JobFiles
from penstock.spark.levels import Levels
from penstock.spark.program_options import ProgramOptions
from penstock.spark.progress_file import Left
from penstock.spark.query import ProgramQuery, Status
from penstock.spark.run import Parts, start
from penstock.spark.standby.sink import StandbySink, publishing_log
from penstock.spark.standby.source import StandbyFormat
from penstock.spark.standby.station import HUNG_AFTER, Station, Takeover, join
from penstock.spark.stored_states import stored_program

_PATIENCE = 20.0
"""Seconds that a standby waits for somebody to follow."""
_PAUSE = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveOptions:
    """How a job with a standby is run; what is left out is as for any job."""

    how: JobSettings = JOB_SETTINGS
    session: SparkSession | None = None
    clock: FileClock | None = None
    limits: BatchLimits | None = None
    on_progress: Callable[[Progress], None] | None = None
    on_takeover: Callable[[Takeover], None] = lambda _: None
    hung_after: timedelta = HUNG_AFTER


def start_active(
    physical: Physical | None,
    *,
    home: str | Path,
    checkpoint: str | Path,
    options: ActiveOptions | None = None,
) -> ActiveQuery:
    """Lead a job, or be the standby of the one that does.

    A standby runs the program of its lead; one that has no other program to offer may be given
    none, and is refused where there is nobody to follow.
    """
    given = options or ActiveOptions()
    deadline = time.monotonic() + _PATIENCE
    while True:
        station = join(Path(checkpoint), follow=physical is None)
        if station is not None:
            try:
                if station.leads or station.prepare():
                    return _started(physical, station, home, given)
            except BaseException:
                station.close()
                raise
            # The lead died before it could be followed: it is led from its checkpoint.
            station.close()
        if time.monotonic() >= deadline:
            raise _nobody(checkpoint)
        time.sleep(_PAUSE)


def _nobody(checkpoint: str | Path) -> RunError:
    return RunError(
        "STANDBY_NO_LEAD",
        f'there is nobody to follow at "{checkpoint}"',
        hint="Start the job: its standby begins when it runs.",
    )


def _started(
    physical: Physical | None, station: Station, home: str | Path, given: ActiveOptions
) -> ActiveQuery:
    files = station.sides.files(station.side)
    program = physical if station.leads else stored_program(files).physical
    assert program is not None, "who has none only follows"
    station.on_takeover = given.on_takeover
    station.tell_planners()
    query = start(
        program,
        home=home,
        checkpoint=station.sides.checkpoint,
        session=given.session,
        clock=given.clock,
        # Whatever a crash may cost: with a standby it costs nothing. The log keeps what the
        # other side may still have to read.
        how=replace(given.how, guarantee="exactly-once", trim=False),
        limits=given.limits,
        on_progress=given.on_progress,
        parts=Parts(StandbyFormat, sink=partial(_sink, station), files=partial(_files, files)),
    )
    station.begin(given.hung_after)
    return ActiveQuery(query, station)


def _files(files: JobFiles, _: Path) -> JobFiles:
    return files


def _sink(
    station: Station,
    physical: Physical,
    options: ProgramOptions,
    levels: Levels,
    log_of: Callable[[str], Log],
    notify: Callable[[Left], None],
) -> StandbySink:
    # A store cannot tell a lead that hangs from the one after it.
    takes_hung = not stored_tables(physical)
    log = log_of(options.home)
    station.publish_by(log, f"program-{options.job}", takes_hung=takes_hung)
    own_log = publishing_log(log_of, station)
    return StandbySink(physical, options, levels, own_log, notify, station=station)


class ActiveQuery:
    """A running side of a job with a standby."""

    def __init__(self, query: ProgramQuery, station: Station) -> None:
        self._query = query
        self._station = station
        self._stopped = False
        self.physical = query.physical

    @property
    def leads(self) -> bool:
        """Whether its results are the ones that are published."""
        return self._station.leads

    @property
    def is_followed(self) -> bool:
        """Whether it leads, and has a standby that has come as far."""
        return self._station.is_followed

    @property
    def takeover(self) -> Takeover | None:
        """When it took over; none where it did not."""
        return self._station.takeover

    @property
    def job(self) -> str:
        """The name of the job in the log's transactions: both sides have it."""
        return self._query.job

    @property
    def status(self) -> Status:
        """Whether it runs, and if not, why."""
        return self._query.status

    @property
    def busy(self) -> bool:
        """Whether a batch is in hand; one that a standby only follows is nobody's loss."""
        return self.leads and self._query.busy

    @property
    def progress(self) -> Progress | None:
        """What the last batch left; none before the first."""
        return self._query.progress

    @property
    def error(self) -> RunError | None:
        """Why it failed; none where it did not."""
        return self._query.error

    @property
    def spark(self) -> StreamingQuery:
        """The query as Spark has it."""
        return self._query.spark

    def explain(self) -> str:
        """Give the plan that Spark made, once a batch has run."""
        return self._query.explain()

    def await_end(self, timeout: timedelta | None = None) -> bool:
        """Wait until it ends, or the time is over; a failure is raised, and the other leads."""
        try:
            done = self._query.await_end(timeout)
        except BaseException:
            self._station.close()
            if self._stopped:
                # A standby gives up the batch in which it waits for its lead.
                return True
            raise
        if done:
            self._station.close()
        return done

    def stop(self) -> None:
        """Stop now; nobody takes over from one that is asked to stop."""
        self._station.rest()
        self.abandon()

    def abandon(self) -> None:
        """End as a crash would: the standby takes over."""
        self._stopped = True
        # One that waits for its lead does so within Spark's batch, which would wait for it.
        self._station.end()
        self._query.stop()
        self._station.close()
