"""What is wished of jobs over HTTP: pause, resume, start, stop, cancel, remove."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request

from penstock.jobs.definition import Definition
from penstock.jobs.job import Job
from penstock.jobs.office import HomeJobs, Wished
from penstock.jobs.stop import Mode
from penstock.jobs.view import definition_document
from penstock.serve.access.needs import needs
from penstock.serve.access.role import Role
from penstock.serve.entity_tag import require_match, tag_of
from penstock.serve.record_rows import plain

JobName = Annotated[str, Path(max_length=200, description="A job's name, or the id of a run.")]
Seconds = Annotated[float, Query(ge=0, le=50, description="How long to wait until it is quiet.")]


def add_routes(router: APIRouter, office: HomeJobs) -> None:
    """Add the routes of this file."""
    writer = [needs(Role.WRITER)]

    @router.post("/{name}/pause", dependencies=writer)
    def pause(name: JobName, request: Request) -> dict[str, Any]:
        """Let a job rest after the batch in hand, until it is resumed."""
        return wish(name, "pause", request)

    @router.post("/{name}/resume", dependencies=writer)
    def resume(name: JobName, request: Request) -> dict[str, Any]:
        """Let a paused job go on where it is."""
        return wish(name, "resume", request)

    @router.post("/{name}/start", dependencies=writer)
    def start(name: JobName, request: Request) -> dict[str, Any]:
        """Let a job run that was stopped or paused, or that failed too often."""
        return wish(name, "start", request)

    @router.post("/{name}/stop", dependencies=writer)
    def stop(name: JobName, request: Request) -> dict[str, Any]:
        """Let a job end after the batch in hand, until it is started."""
        return end(name, "stop", request)

    @router.post("/{name}/cancel", dependencies=writer)
    def cancel(name: JobName, request: Request) -> dict[str, Any]:
        """Let a job end at once; the batch in hand is done again by the next start."""
        return end(name, "cancel", request)

    def wish(name: str, what: Wished, request: Request) -> dict[str, Any]:
        _require_seen(office, name, request)
        return dict(plain(definition_document(office.wish(name, what))))

    def end(name: str, mode: Mode, request: Request) -> dict[str, Any]:
        _require_seen(office, name, request)
        return dict(plain(ended_document(office.stop(name, mode))))

    @router.delete("/{name}", dependencies=writer)
    def remove(
        name: JobName, request: Request, *, keep_state: bool = False, seconds: Seconds = 30.0
    ) -> dict[str, Any]:
        """Forget a stopped job, its versions and its state; the topics it has written stay."""
        _require_seen(office, name, request)
        done = office.remove(name, keep_state=keep_state, seconds=seconds)
        return dict(plain(definition_document(done)))


def ended_document(ended: Definition | Job) -> dict[str, Any]:
    """Give what was stopped, a job or a run of none, as JSON has it."""
    return definition_document(ended) if isinstance(ended, Definition) else asdict(ended)


def _require_seen(office: HomeJobs, name: str, request: Request) -> None:
    """Refuse where `If-Match` names another definition than the job has now."""
    if "if-match" in request.headers:
        definition = office.view(name).definition
        document = None if definition is None else plain(definition_document(definition))
        require_match(request, tag_of(document))
