"""All that can be asked of jobs, wherever they are: here, or at a server.

The same is asked by the command line, the API of a server, and its pages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from typing_extensions import override

from penstock.jobs import control
from penstock.jobs.definition import Definition, Event, checkpoint_of
from penstock.jobs.definitions import definition_store
from penstock.jobs.host_file import host_file
from penstock.jobs.job import Job
from penstock.jobs.job_log import Entry
from penstock.jobs.named import named, require_defined
from penstock.jobs.quiet import runs_on
from penstock.jobs.stop import Mode, ask_to_stop, wait_for_end
from penstock.jobs.store import job_store
from penstock.jobs.view import JobView, view_of, views
from penstock.model.recovery_report import RecoveryReport

if TYPE_CHECKING:
    from penstock.jobs.clone import Clone
    from penstock.plan.explain import Stage

Wished: TypeAlias = Literal["pause", "resume", "start"]
Document: TypeAlias = dict[str, Any]
"""What was done, as JSON has it."""
Line: TypeAlias = tuple[str, Entry]
"""The run that something happened to, and what."""


class JobOffice(Protocol):
    """What can be asked of the jobs of a home; `name` is a job's, or the id of a run."""

    def views(self) -> tuple[JobView, ...]:
        """Give all jobs, then the runs of programs that are none."""
        ...

    def view(self, name: str) -> JobView:
        """Give one of them with its versions and history."""
        ...

    def recovery(self, name: str) -> RecoveryReport | None:
        """Give how it came back after its last crash."""
        ...

    def plan(self, name: str, stage: Stage) -> Mapping[str, str]:
        """Give the plan of its program, by stage."""
        ...

    def log(self, name: str) -> list[Line]:
        """Give what happened during its runs, or during one run, oldest first."""
        ...

    def history(self, name: str) -> tuple[Event, ...]:
        """Give what was done to it, oldest first."""
        ...

    def wish(self, name: str, what: Wished) -> Definition:
        """Let it rest after the batch in hand, go on, or run again."""
        ...

    def stop(self, name: str, mode: Mode) -> Definition | Job:
        """Let it end; gives the run where it is one of no job."""
        ...

    def wait_until_ended(self, name: str, seconds: float) -> Job | None:
        """Wait until nobody runs it; gives the run where it is one of no job."""
        ...

    def remove(self, name: str, *, keep_state: bool, seconds: float) -> Definition:
        """Forget a job that is stopped."""
        ...

    def rewind(
        self, name: str, to: Sequence[str], *, drop_results: bool, seconds: float
    ) -> list[Document]:
        """Let it begin anew at a place of its input; gives the places before and after."""
        ...

    def rescale(self, name: str, parallelism: int, *, seconds: float) -> Document:
        """Let it go on with so many tasks at a time."""
        ...

    def savepoint(self, name: str, folder: Path | None, *, seconds: float) -> Document:
        """Keep all that it knows in a folder."""
        ...

    def restore(
        self, name: str, folder: Path, *, parallelism: int | None, seconds: float
    ) -> Document:
        """Let it go on with what a savepoint knows."""
        ...

    def clone(self, name: str, wanted: Clone, *, seconds: float) -> Definition:
        """Make a copy of it."""
        ...

    def export(self, name: str, folder: Path, *, with_input: bool, seconds: float) -> Document:
        """Write it into a folder that needs nothing of ours."""
        ...

    def hosted(self) -> bool:
        """Say whether somebody is there to run jobs."""
        ...


class HomeJobs(JobOffice):
    """The jobs of a home on this machine."""

    def __init__(self, home: Path) -> None:
        self._home = home

    @override
    def views(self) -> tuple[JobView, ...]:
        return views(self._home)

    @override
    def view(self, name: str) -> JobView:
        return view_of(self._home, name)

    @override
    def recovery(self, name: str) -> RecoveryReport | None:
        from penstock.jobs.recovery import recovery_of  # noqa: PLC0415

        view = view_of(self._home, name)
        if view.definition is not None:
            place = str(checkpoint_of(self._home, view.definition))
            return recovery_of(job_store(self._home), place)
        return None if view.run is None else job_store(self._home).recovery(view.run.id)

    @override
    def plan(self, name: str, stage: Stage) -> Mapping[str, str]:
        from penstock.jobs.plan_text import plan_texts  # noqa: PLC0415  # PySpark: seconds
        from penstock.jobs.running import running_of  # noqa: PLC0415
        from penstock.jobs.submit import known_program  # noqa: PLC0415

        found = named(self._home, name).name
        running = running_of(self._home, found)
        return plan_texts(known_program(self._home, found), stage, running=running)

    @override
    def log(self, name: str) -> list[Line]:
        store = job_store(self._home)
        found = named(self._home, name)
        # The id of a run asks for that run alone.
        runs = [run.id for run in found.runs if name in {found.name, run.id}]
        lines = [(run, entry) for run in runs for entry in store.log(run).entries()]
        return sorted(lines, key=lambda line: line[1].at)

    @override
    def history(self, name: str) -> tuple[Event, ...]:
        return definition_store(self._home).history(require_defined(self._home, name).name)

    @override
    def wish(self, name: str, what: Wished) -> Definition:
        verbs = {"pause": control.pause, "resume": control.resume, "start": control.start}
        return verbs[what](self._home, require_defined(self._home, name).name)

    @override
    def stop(self, name: str, mode: Mode) -> Definition | Job:
        definition = named(self._home, name).definition
        if definition is None:
            return ask_to_stop(job_store(self._home), name, mode)
        return control.stop(self._home, definition.name, mode=mode)

    @override
    def wait_until_ended(self, name: str, seconds: float) -> Job | None:
        definition = named(self._home, name).definition
        if definition is None:
            return wait_for_end(job_store(self._home), name, seconds)
        control.wait_until_ended(self._home, definition.name, seconds)
        return None

    def runs(self, name: str) -> tuple[str, ...]:
        """Give the runs that are at work on it now."""
        found = named(self._home, name)
        if found.definition is None:
            return tuple(run.id for run in found.runs if run.alive)
        place = str(checkpoint_of(self._home, found.definition))
        return tuple(runs_on(job_store(self._home), place))

    @override
    def remove(self, name: str, *, keep_state: bool, seconds: float) -> Definition:
        definition = require_defined(self._home, name)
        control.remove(self._home, definition.name, keep_state=keep_state, seconds=seconds)
        return definition

    @override
    def rewind(
        self, name: str, to: Sequence[str], *, drop_results: bool, seconds: float
    ) -> list[Document]:
        from penstock.jobs.moving import rewind  # noqa: PLC0415  # PySpark: seconds
        from penstock.jobs.rewind_place import parse_to  # noqa: PLC0415

        place = parse_to(to)
        done = rewind(self._home, name, place, drop_results=drop_results, seconds=seconds)
        return [
            {
                "topic": place.topic,
                "partition": place.partition,
                "before": done.before.get(place),
                "after": offset,
            }
            for place, offset in sorted(done.after.items())
        ]

    @override
    def rescale(self, name: str, parallelism: int, *, seconds: float) -> Document:
        from penstock.jobs.moving import rescale  # noqa: PLC0415  # PySpark: seconds

        return asdict(rescale(self._home, name, parallelism, seconds=seconds))

    @override
    def savepoint(self, name: str, folder: Path | None, *, seconds: float) -> Document:
        from penstock.jobs.moving import savepoint  # noqa: PLC0415  # PySpark: seconds

        done = savepoint(self._home, name, folder, seconds=seconds)
        return {"folder": str(done.folder), "made": done.made, "bytes": done.size}

    @override
    def restore(
        self, name: str, folder: Path, *, parallelism: int | None, seconds: float
    ) -> Document:
        from penstock.jobs.moving import restore  # noqa: PLC0415  # PySpark: seconds

        done = restore(self._home, name, folder, parallelism=parallelism, seconds=seconds)
        return {"job": name, "milliseconds": done.milliseconds}

    @override
    def clone(self, name: str, wanted: Clone, *, seconds: float) -> Definition:
        from penstock.jobs.clone import clone  # noqa: PLC0415  # PySpark: seconds

        return clone(self._home, name, wanted, seconds=seconds)

    @override
    def export(self, name: str, folder: Path, *, with_input: bool, seconds: float) -> Document:
        from penstock.jobs.export import export  # noqa: PLC0415  # PySpark: seconds

        done = export(self._home, name, folder, with_input=with_input, seconds=seconds)
        return {"folder": str(done.folder), "rows": dict(done.rows)}

    @override
    def hosted(self) -> bool:
        view = host_file(self._home).view()
        return view is not None and view.alive
