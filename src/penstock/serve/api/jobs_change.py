"""What is wished of jobs over HTTP: pause, resume, start, stop, cancel, remove."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Annotated, Any, TypeAlias

from fastapi import APIRouter, Path, Query, Request

from penstock.jobs.definition import Definition
from penstock.jobs.job import Job
from penstock.jobs.office import HomeJobs
from penstock.jobs.view import definition_document
from penstock.serve.access.needs import needs
from penstock.serve.access.role import Role
from penstock.serve.entity_tag import require_match, tag_of
from penstock.serve.record_rows import plain

JobName = Annotated[str, Path(max_length=200, description="A job's name, or the id of a run.")]
Seconds = Annotated[float, Query(ge=0, le=50, description="How long to wait until it is quiet.")]
_Verb: TypeAlias = tuple[str, Callable[[HomeJobs, str], Definition | Job]]

VERBS: Mapping[str, _Verb] = {
    "pause": (
        "Let a job rest after the batch in hand, until it is resumed.",
        lambda office, name: office.wish(name, "pause"),
    ),
    "resume": (
        "Let a paused job go on where it is.",
        lambda office, name: office.wish(name, "resume"),
    ),
    "start": (
        "Let a job run that was stopped or paused, or that failed too often.",
        lambda office, name: office.wish(name, "start"),
    ),
    "stop": (
        "Let a job end after the batch in hand, until it is started.",
        lambda office, name: office.stop(name, "stop"),
    ),
    "cancel": (
        "Let a job end at once; the batch in hand is done again by the next start.",
        lambda office, name: office.stop(name, "cancel"),
    ),
}
"""What each does, and how."""


def add_routes(router: APIRouter, office: HomeJobs) -> None:
    """Add the routes of this file."""
    for name, verb in VERBS.items():
        _add_verb(router, office, name, verb)

    @router.delete("/{name}", dependencies=[needs(Role.WRITER)])
    def remove(
        name: JobName, request: Request, *, keep_state: bool = False, seconds: Seconds = 30.0
    ) -> dict[str, Any]:
        """Forget a stopped job, its versions and its state; the topics it has written stay."""
        _require_seen(office, name, request)
        done = office.remove(name, keep_state=keep_state, seconds=seconds)
        return dict(plain(definition_document(done)))


def _add_verb(router: APIRouter, office: HomeJobs, verb: str, does: _Verb) -> None:
    about, work = does

    @router.post(
        f"/{{name}}/{verb}", name=verb, description=about, dependencies=[needs(Role.WRITER)]
    )
    def carry_out(name: JobName, request: Request) -> dict[str, Any]:
        _require_seen(office, name, request)
        return dict(plain(_document(work(office, name))))


def _document(changed: Definition | Job) -> dict[str, Any]:
    """Give a job, or a run of none, as JSON has it."""
    return definition_document(changed) if isinstance(changed, Definition) else asdict(changed)


def _require_seen(office: HomeJobs, name: str, request: Request) -> None:
    """Refuse where `If-Match` names another definition than the job has now."""
    if "if-match" in request.headers:
        definition = office.view(name).definition
        document = None if definition is None else plain(definition_document(definition))
        require_match(request, tag_of(document))
