"""Programs that can be explained, tested and run.

What runs them is loaded when asked for: a program is built, checked and drawn without it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from typing_extensions import override

from penstock.config import load_settings
from penstock.errors import PlanError
from penstock.front.dsl.app import App as Described
from penstock.front.dsl.formats import ReadAs, Said
from penstock.model.physical import Physical, Settings
from penstock.model.plan import Plan
from penstock.model.site import user_frame
from penstock.schema.home_schemas import HomeSchemas

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from penstock.inline.run import InlineOptions, Report
    from penstock.jobs.job import Job
    from penstock.jobs.submit import Submitted
    from penstock.model.job_settings import JobSettings
    from penstock.model.progress import Progress
    from penstock.plan.explain import Stage
    from penstock.schema.binding import Bindings
    from penstock.schema.codec.schemas import Schemas
    from penstock.spark.query import ProgramQuery
    from penstock.testing.driver import TestDriver
    from penstock.testing.moment import Moment


class App(Described):
    """A named program; its streams say what is written, and nothing runs before `run`.

    The log, and the registry of its schemas, are those of `home`, by default of the settings.
    `how` is how it is run as a job; what the table of its name in `penstock.toml` says wins.
    """

    def __init__(
        self, name: str, *, home: str | Path | None = None, how: JobSettings | None = None
    ) -> None:
        super().__init__(name)
        self._place = None if home is None else Path(home)
        self._how = how
        frame = user_frame()
        file = None if frame is None else Path(frame.f_code.co_filename)
        self._source = str(file.absolute()) if file is not None and file.is_file() else ""

    @property
    def home(self) -> Path:
        """Where its log is kept."""
        return self._place or load_settings().home

    @property
    def source(self) -> str:
        """The file it is written in, if it is in one."""
        return self._source

    def how(self, how: JobSettings | None = None, *, name: str = "") -> JobSettings:
        """Give how it is run as a job of a name, by default its own.

        What is given here is in the place of what it was made with.
        """
        from penstock.jobs.said_settings import file_settings  # noqa: PLC0415
        from penstock.model.job_settings import JOB_SETTINGS  # noqa: PLC0415

        base = how or self._how or JOB_SETTINGS
        return file_settings(base, load_settings().jobs, name or self.name)

    def bound(self) -> Plan:
        """Give the program with the formats that configuration binds its topics to."""
        bindings = self._bindings()
        if not bindings:
            return self.plan()
        from penstock.plan.bind import bind  # noqa: PLC0415

        return bind(self.plan(), bindings)

    def physical(self, settings: Settings | None = None) -> Physical:
        """Give what would be run: readers, operators by key and bucket, and writers."""
        from penstock.plan.planner import plan  # noqa: PLC0415

        chosen = settings or Settings()
        registry = chosen.registry or load_settings().registry_url
        return plan(self.bound(), replace(chosen, registry=registry))

    def explain(self, stage: Stage = "all", *, settings: Settings | None = None) -> str:
        """Say what was meant, what the rules made of it, what is run where, and why."""
        from penstock.plan.explain import explain  # noqa: PLC0415

        return explain(self.bound(), settings or Settings(), stage)

    def test(
        self,
        *,
        settings: Settings | None = None,
        clock: Moment | None = None,
        watermarks: Literal["automatic", "manual"] = "automatic",
    ) -> TestDriver:
        """Run it in this process, on clocks that move only when told to."""
        from penstock.testing.driver import TestDriver  # noqa: PLC0415

        return TestDriver(
            self.bound(),
            settings=settings,
            clock=clock,
            watermarks=watermarks,
            schemas=self._schemas(),
        )

    def start(
        self,
        *,
        home: str | Path | None = None,
        checkpoint: str | Path | None = None,
        bounded: bool | None = None,
        settings: Settings | None = None,
        how: JobSettings | None = None,
    ) -> ProgramQuery:
        """Start it on Spark, or continue it where its checkpoint is, and give the running query.

        A `bounded` one takes what its topics hold now, closes every window and ends; it is by
        default where all it reads is files, which end by themselves. The log is that of `home`,
        by default of the settings; the checkpoint lies beside it.
        """
        from penstock.spark.run import start  # noqa: PLC0415

        place = Path(home) if home is not None else self.home
        memory = checkpoint if checkpoint is not None else place / "jobs" / self.name
        physical = self.physical(settings)
        ends = bounded_run(physical, bounded=bounded)
        return start(physical, home=place, checkpoint=memory, bounded=ends, how=self.how(how))

    def state(
        self,
        operator: str,
        *,
        home: str | Path | None = None,
        checkpoint: str | Path | None = None,
    ) -> dict[str, pl.DataFrame]:
        """Give what an operator of the stopped job remembers, as polars tables by name.

        `explain` names the operators. A process has a table for each of its states.
        """
        from penstock.spark.stored_states import state_tables  # noqa: PLC0415

        place = Path(home) if home is not None else self.home
        memory = checkpoint if checkpoint is not None else place / "jobs" / self.name
        return state_tables(memory, operator)

    def run(  # noqa: PLR0913  # all are by name
        self,
        *,
        home: str | Path | None = None,
        checkpoint: str | Path | None = None,
        bounded: bool | None = None,
        settings: Settings | None = None,
        application: str = "",
        rebuild: bool = False,
        restart: bool = False,
        how: JobSettings | None = None,
    ) -> Job:
        """Run it as a job, until its input ends or it is stopped, and give the job's record.

        `bounded` is as for `start`. With `rebuild` all that it has made is dropped first, its
        state, its topics' records and its tables in stores, and made again from its input.
        Meanwhile `penstock jobs` of any process shows how far it is, and can stop it. Jobs of
        several programs are listed together where they are given one `application`; by default
        a program is its own. With `restart` it is started again where it fails, as `how` says.
        """
        from penstock.jobs.rebuild import rebuild_job  # noqa: PLC0415
        from penstock.jobs.record import new_job  # noqa: PLC0415
        from penstock.jobs.run import run_job  # noqa: PLC0415
        from penstock.jobs.runnable import Runnable  # noqa: PLC0415
        from penstock.jobs.store import job_store  # noqa: PLC0415
        from penstock.jobs.supervisor import run_supervised  # noqa: PLC0415
        from penstock.spark.run import start  # noqa: PLC0415

        place = Path(home) if home is not None else self.home
        memory = checkpoint if checkpoint is not None else place / "jobs" / self.name
        physical = self.physical(settings)
        ends = bounded_run(physical, bounded=bounded)
        chosen = self.how(how)
        if rebuild:
            rebuild_job(physical, place, Path(memory))

        def begin(tell: Callable[[Progress], None]) -> ProgramQuery:
            return start(
                physical,
                home=place,
                checkpoint=memory,
                bounded=ends,
                how=chosen,
                on_progress=tell,
            )

        job = new_job(physical, application=application, checkpoint=str(Path(memory).absolute()))
        if restart:
            return run_supervised(
                Runnable(self.name, "", lambda: job, begin, chosen), job_store(place)
            )
        return run_job(begin, job_store(place), job)

    def submit(  # noqa: PLR0913  # all are by name
        self,
        *,
        home: str | Path | None = None,
        name: str = "",
        application: str = "",
        bounded: bool | None = None,
        settings: Settings | None = None,
        how: JobSettings | None = None,
        paused: bool = False,
    ) -> Submitted:
        """Make it a job, which whoever hosts the jobs of this home runs from now on.

        The same program again changes nothing but its settings; another one under the same name
        is refused. One that is `paused` waits until it is resumed.
        """
        from penstock.jobs.submit import Submission, submit  # noqa: PLC0415
        from penstock.plan.user_code import own_directory  # noqa: PLC0415

        if self.source:
            own_directory(Path(self.source).parent)
        physical = self.physical(settings)
        submission = Submission(
            name=name,
            application=application,
            source=self.source,
            settings=self.how(how, name=name),
            bounded=bounded_run(physical, bounded=bounded),
            wish="paused" if paused else "running",
        )
        return submit(Path(home) if home is not None else self.home, physical, submission)

    def run_here(
        self,
        *,
        home: str | Path | None = None,
        checkpoint: str | Path | None = None,
        options: InlineOptions | None = None,
        settings: Settings | None = None,
    ) -> Report:
        """Run it in this process, an event at a time and without Spark.

        Where it keeps what it remembers is said by `options`, or else by the settings
        `state.store` and `state.database`.
        """
        from penstock.inline.run import InlineOptions, InlineRun  # noqa: PLC0415

        chosen = load_settings()
        place = Path(home) if home is not None else self.home
        memory = Path(checkpoint) if checkpoint is not None else place / "jobs" / self.name
        how = options or InlineOptions(state=chosen.state_store, database=chosen.state_database)
        run = InlineRun(self.physical(settings), home=place, checkpoint=memory, options=how)
        return run.run()

    @override
    def _schemas(self) -> Schemas | None:
        return HomeSchemas(self.home, load_settings().registry_url)

    @override
    def _read_as(self, topic: str, said: Said) -> ReadAs:
        if said.schema is None and said.format is None:
            # Its columns may follow from what configuration binds the topic to.
            bound = self._bindings().get(topic)
            if bound is not None:
                said = replace(said, format=bound.value, key_format=said.key_format or bound.key)
        return super()._read_as(topic, said)

    def _bindings(self) -> Bindings:
        chosen = load_settings()
        if not chosen.topics and not chosen.serdes:
            return {}
        # Loads Arrow, which a program that is only described does without.
        from penstock.schema.binding import bindings_of  # noqa: PLC0415

        return bindings_of(chosen.serdes, chosen.topics)


def bounded_run(physical: Physical, *, bounded: bool | None = None) -> bool:
    """Say whether a program ends by itself: as was asked, or as its sources were collected."""
    files = [scan.stream.topic for scan in physical.scans if scan.stream.files is not None]
    ends = len(files) == len(physical.scans) if bounded is None else bounded
    if files and not ends:
        raise PlanError(
            "PLAN_FILES",
            f'program "{physical.name}" is to run without an end, and reads files "{files[0]}"',
            hint="Run it with bounded=True, or write the rows of the files to a topic.",
        )
    return ends
