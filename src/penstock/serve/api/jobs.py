"""Jobs over HTTP: see them. What can be done to them is in the files beside this one."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from penstock.jobs.input_pressure import pressure_on
from penstock.jobs.office import HomeJobs
from penstock.jobs.view import JobView
from penstock.jobs.view_document import whole_document
from penstock.log.port import Log
from penstock.plan.explain import Stage
from penstock.serve.access.needs import needs
from penstock.serve.access.role import Role
from penstock.serve.api import jobs_change, jobs_move, jobs_submit
from penstock.serve.api.jobs_change import JobName
from penstock.serve.entity_tag import tag_of
from penstock.serve.paging import PageAsked, page_of
from penstock.serve.platform import Platform
from penstock.serve.record_rows import plain


@dataclass(frozen=True, slots=True)
class JobListed:
    """A job, or a run of a program that is none: then there is no definition.

    `lag` is how many records wait; the watermark is in milliseconds since 1970.
    """

    name: str
    state: str
    lag: int | None
    watermark: int | None
    definition: dict[str, Any] | None
    run: dict[str, Any] | None
    progress: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class JobPage:
    """Jobs by name; `next` is the `after` of the page that follows, none after the last."""

    items: list[JobListed]
    next: str | None
    hosted: bool
    """Whether somebody is there to run them."""


@dataclass(frozen=True, slots=True)
class PressureShown:
    """Records of a topic that it reads: all that came, those that wait to be read.

    Producers have put `aside` so many for when there is room, and `followed` have since then.
    """

    topic: str
    came: int
    waiting: int
    aside: int
    followed: int


@dataclass(frozen=True, slots=True)
class JobShown:
    """A job whole: elements, positions, watermarks by partition, accounting, state, history."""

    name: str
    state: str
    lag: int | None
    watermark: int | None
    definition: dict[str, Any] | None
    run: dict[str, Any] | None
    progress: dict[str, Any] | None
    runs: list[dict[str, Any]]
    versions: list[int]
    history: list[dict[str, Any]]
    hosted: bool
    recovery: dict[str, Any] | None = None
    plan: dict[str, str] = field(default_factory=dict)
    pressure: list[PressureShown] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class LogLine:
    """Something that happened during a run; `at` is in milliseconds since 1970."""

    run: str
    at: int
    level: str
    text: str


@dataclass(frozen=True, slots=True)
class EventShown:
    """Something that was done to a job."""

    at: int
    user: str
    what: str
    detail: str


def routes(platform: Platform) -> APIRouter:
    """Give the routes of jobs."""
    office = HomeJobs(platform.home)
    router = APIRouter(prefix="/jobs", tags=["jobs"])
    _looking(router, office, platform.log)
    jobs_change.add_routes(router, office)
    jobs_move.add_routes(router, office, platform.home)
    jobs_submit.add_routes(router, platform.home)
    return router


def _looking(router: APIRouter, office: HomeJobs, log: Log) -> None:
    reader = [needs(Role.READER)]

    @router.get("", dependencies=reader)
    def list_jobs(page: PageAsked, application: str | None = None) -> JobPage:
        """List jobs, and the runs of programs that are none, with state and lag."""
        found = [view for view in office.views() if application in (None, _application(view))]
        asked = page_of(found, lambda view: view.name, page)
        shown = [_listed(view) for view in asked["items"]]
        return JobPage(shown, asked["next"], office.hosted())

    @router.get("/{name}", dependencies=reader)
    def show_job(
        name: JobName,
        response: Response,
        stage: Annotated[Stage | None, Query(description="Its plan, too.")] = None,
    ) -> JobShown:
        """Show a job; the ETag is that of its definition, for `If-Match`."""
        view = office.view(name)
        document = plain(whole_document(view))
        response.headers["ETag"] = tag_of(document["definition"])
        report = office.recovery(name)
        told = None if report is None else plain(asdict(report) | {"seconds": report.seconds})
        plan = {} if stage is None else dict(office.plan(name, stage))
        return JobShown(
            **document,
            hosted=office.hosted(),
            recovery=told,
            plan=plan,
            pressure=[PressureShown(**asdict(item)) for item in pressure_on(log, view.progress)],
        )

    @router.get("/{name}/logs", dependencies=reader)
    def show_logs(
        name: JobName, lines: Annotated[int, Query(ge=0, le=10_000)] = 200
    ) -> list[LogLine]:
        """Show the latest of what happened during its runs, or during one run, oldest first."""
        found = office.log(name)
        return [LogLine(run, **asdict(entry)) for run, entry in (found[-lines:] if lines else ())]

    @router.get("/{name}/history", dependencies=reader)
    def show_history(name: JobName) -> list[EventShown]:
        """Show what was done to a job, by whom and when, oldest first."""
        return [EventShown(**asdict(item)) for item in office.history(name)]

    @router.get("/{name}/running", dependencies=reader)
    def show_running(name: JobName) -> list[str]:
        """Give the ids of the runs that are at work on a job now."""
        return list(office.runs(name))


def _listed(view: JobView) -> JobListed:
    document = plain(whole_document(view))
    names = ("name", "state", "lag", "watermark", "definition", "run", "progress")
    return JobListed(**{name: document[name] for name in names})


def _application(view: JobView) -> str:
    if view.definition is not None:
        return view.definition.application
    return "" if view.run is None else view.run.application
