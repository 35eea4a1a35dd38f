"""A query that runs on as a job: how it is begun, on Spark or, where it was begun so, without."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

from penstock.errors import JobError
from penstock.front.sql.statement import Started
from penstock.inline.run import InlineRun
from penstock.jobs.job import Job
from penstock.jobs.record import new_job
from penstock.jobs.run import Query
from penstock.jobs.runnable import Runnable
from penstock.model.job_settings import JOB_SETTINGS, JobSettings
from penstock.model.physical import Settings
from penstock.model.progress import Progress
from penstock.spark.configured import configured_session
from penstock.spark.joint.files import group_with
from penstock.spark.joint.query import let_one_leave
from penstock.spark.program_options import Until
from penstock.spark.run import start
from penstock.sql.query_place import checkpoint_of, engine_of, taken, write_reached
from penstock.sql.running import physical_of, run_of, tables_first


def query_runnable(
    home: Path,
    query: Started,
    *,
    version: str = "",
    until: Until = "stopped",
    settings: Settings | None = None,
    how: JobSettings = JOB_SETTINGS,
) -> Runnable:
    """Give how a query of the catalog is run; whichever engine began it goes on with it."""
    checkpoint = checkpoint_of(home, query.id)

    def describe() -> Job:
        physical = physical_of(query, settings)
        return new_job(physical, application="sql", checkpoint=str(checkpoint))

    def begin(tell: Callable[[Progress], None]) -> Query:
        engine = engine_of(home, query.id) or "spark"
        with ExitStack() as hold:
            if not hold.enter_context(taken(home, query.id, engine)):
                raise busy(query.id)
            begun = on_spark(tell) if engine == "spark" else here()
            return HeldQuery(begun, hold.pop_all())

    def on_spark(tell: Callable[[Progress], None]) -> Query:
        _leave_group(home, query.id)
        return start(
            physical_of(query, settings),
            home=home,
            checkpoint=checkpoint,
            until=until,
            how=how,
            on_progress=tell,
            first=tables_first(query),
            session=configured_session(),
        )

    def here() -> Query:
        run = run_of(home, query, caught_up=until != "stopped")
        run.on_stored = lambda offsets: write_reached(home, query.id, offsets)
        return InlineQuery(run)

    return Runnable(query.id, version, describe, begin, how)


def busy(id_: str) -> JobError:
    """Say that a query cannot be run now."""
    return JobError(
        "JOB_BUSY",
        f'query "{id_}" is run by another process, or together with others',
        hint="`penstock sql` in a shell or `penstock sql serve` run queries, too.",
    )


def _leave_group(home: Path, id_: str) -> None:
    """Let a query that was run together with others go on by itself, from where they are."""
    group = group_with(home, id_)
    if group is not None:
        with taken(home, group.name, "spark") as ours:
            if not ours:
                raise busy(id_)
            let_one_leave(home, group, id_, configured_session())


class HeldQuery:
    """A query that nobody else runs until it has ended."""

    def __init__(self, query: Query, hold: ExitStack) -> None:
        self._query = query
        self._hold = hold

    @property
    def busy(self) -> bool:
        """Whether a batch is in hand."""
        return self._query.busy

    def explain(self) -> str:
        """Give the plan that Spark made of it."""
        return self._query.explain()

    def await_end(self, timeout: timedelta | None = None) -> bool:
        """Wait until it has ended or the time is over; whether it has."""
        try:
            done = self._query.await_end(timeout)
        except BaseException:
            self._hold.close()
            raise
        if done:
            self._hold.close()
        return done

    def stop(self) -> None:
        """End it."""
        try:
            self._query.stop()
        finally:
            self._hold.close()


class InlineQuery:
    """A program without Spark, run by a thread of this process."""

    busy = False

    def __init__(self, run: InlineRun) -> None:
        self._run = run
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name="inline query", daemon=True)
        self._thread.start()

    def explain(self) -> str:
        """Give nothing: it has no plan of Spark."""
        return ""

    def await_end(self, timeout: timedelta | None = None) -> bool:
        """Wait until it has ended or the time is over; whether it has. A failure is raised."""
        self._thread.join(None if timeout is None else timeout.total_seconds())
        if self._thread.is_alive():
            return False
        if self._failure is not None:
            raise self._failure
        return True

    def stop(self) -> None:
        """Let it store what it has read, and end."""
        self._run.stop()
        self._thread.join()

    def _work(self) -> None:
        try:
            self._run.run()
        except BaseException as error:  # noqa: BLE001  # raised where it is waited for
            self._failure = error
