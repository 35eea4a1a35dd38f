"""What moves jobs over HTTP: rewind, rescale, savepoint, restore, clone, export."""

from __future__ import annotations

import shutil
import zipfile
from dataclasses import asdict, dataclass, field
from http import HTTPStatus
from pathlib import Path
from tempfile import mkdtemp
from typing import Annotated, Any

from fastapi import APIRouter
from fastapi.responses import FileResponse
from pydantic import Field
from starlette.background import BackgroundTask

from penstock.jobs.kept_savepoints import kept_savepoint, savepoint_names, savepoint_place
from penstock.jobs.office import HomeJobs
from penstock.jobs.view import definition_document
from penstock.serve.access.needs import needs
from penstock.serve.access.role import Role
from penstock.serve.api.jobs_change import JobName
from penstock.serve.record_rows import plain

_FOLDER = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,120}$"
_ZIP = "application/zip"
Seconds = Annotated[float, Field(ge=0, le=50)]


@dataclass(frozen=True, slots=True)
class Rewinding:
    """Where to: `beginning`, `end`, a time, or offsets as `TOPIC:N=OFFSET`."""

    to: Annotated[list[str], Field(min_length=1, max_length=1000)]
    drop_results: bool = False
    seconds: Seconds = 30.0


@dataclass(frozen=True, slots=True)
class Rescaling:
    """How many tasks at a time."""

    parallelism: Annotated[int, Field(ge=1, le=1000)]
    seconds: Seconds = 30.0


@dataclass(frozen=True, slots=True)
class Saving:
    """What the savepoint is called, below the home of the server; by default after the time."""

    folder: Annotated[str | None, Field(pattern=_FOLDER)] = None
    seconds: Seconds = 30.0


@dataclass(frozen=True, slots=True)
class SavepointShown:
    """A savepoint by its name; `made` is in milliseconds since 1970."""

    folder: str
    made: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Restoring:
    """A savepoint of the server by its name."""

    folder: Annotated[str, Field(pattern=_FOLDER)]
    parallelism: Annotated[int | None, Field(ge=1, le=1000)] = None
    seconds: Seconds = 30.0


@dataclass(frozen=True, slots=True)
class Cloning:
    """What the copy is called, and which topics it writes to."""

    name: Annotated[str, Field(max_length=100)]
    topics: dict[str, str] = field(default_factory=dict)
    suffix: Annotated[str, Field(max_length=100)] = ""
    fresh: bool = False
    paused: bool = False
    seconds: Seconds = 30.0


@dataclass(frozen=True, slots=True)
class Exporting:
    """Whether the records that it reads are to be in the folder, too."""

    with_input: bool = False
    seconds: Seconds = 30.0


def add_routes(router: APIRouter, office: HomeJobs, home: Path) -> None:
    """Add the routes of this file."""
    _moving(router, office)
    _saving(router, office, home)
    _copying(router, office)


def _moving(router: APIRouter, office: HomeJobs) -> None:
    writer = [needs(Role.WRITER)]

    @router.post("/{name}/rewind", dependencies=writer)
    def rewind(name: JobName, wanted: Rewinding) -> list[dict[str, Any]]:
        """Let a job begin anew at a place of its input, with nothing that it remembers."""
        return office.rewind(
            name, wanted.to, drop_results=wanted.drop_results, seconds=wanted.seconds
        )

    @router.post("/{name}/rescale", dependencies=writer)
    def rescale(name: JobName, wanted: Rescaling) -> dict[str, Any]:
        """Let a job go on with so many tasks at a time; it keeps its state and its place."""
        return office.rescale(name, wanted.parallelism, seconds=wanted.seconds)


def _saving(router: APIRouter, office: HomeJobs, home: Path) -> None:
    writer = [needs(Role.WRITER)]

    @router.post("/{name}/savepoint", dependencies=writer, status_code=HTTPStatus.CREATED)
    def savepoint(name: JobName, wanted: Saving) -> dict[str, Any]:
        """Keep all that a job knows at the server: its state, its place and its program."""
        folder = None if wanted.folder is None else savepoint_place(home, wanted.folder)
        done = office.savepoint(name, folder, seconds=wanted.seconds)
        return done | {"folder": Path(done["folder"]).name}

    @router.get("/{name}/savepoints", dependencies=[needs(Role.READER)])
    def show_savepoints(name: JobName) -> list[SavepointShown]:
        """List the savepoints of a job that are kept at the server, the latest first."""
        view = office.view(name)
        names = savepoint_names(home, view.name, view.history)
        return [SavepointShown(**asdict(kept_savepoint(home, item))) for item in names]

    @router.post("/{name}/restore", dependencies=writer)
    def restore(name: JobName, wanted: Restoring) -> dict[str, Any]:
        """Let a job go on with what a savepoint of the server knows."""
        folder = savepoint_place(home, wanted.folder)
        return office.restore(name, folder, parallelism=wanted.parallelism, seconds=wanted.seconds)


def _copying(router: APIRouter, office: HomeJobs) -> None:
    writer = [needs(Role.WRITER)]

    @router.post("/{name}/clone", dependencies=writer, status_code=HTTPStatus.CREATED)
    def clone(name: JobName, wanted: Cloning) -> dict[str, Any]:
        """Make a copy of a job that writes to topics of its own."""
        from penstock.jobs.clone import Clone  # noqa: PLC0415  # PySpark: seconds

        copy = Clone(
            name=wanted.name,
            topics=wanted.topics,
            suffix=wanted.suffix,
            fresh=wanted.fresh,
            paused=wanted.paused,
        )
        made = office.clone(name, copy, seconds=wanted.seconds)
        return dict(plain(definition_document(made)))

    @router.post(
        "/{name}/export",
        dependencies=writer,
        response_class=FileResponse,
        responses={200: {"content": {_ZIP: {"schema": {"type": "string", "format": "binary"}}}}},
    )
    def export(name: JobName, wanted: Exporting) -> FileResponse:
        """Give a job with its results, state and place as a ZIP that needs no Penstock."""
        place = Path(mkdtemp(prefix="penstock-export-"))
        try:
            folder = place / "job"
            office.export(name, folder, with_input=wanted.with_input, seconds=wanted.seconds)
            archive = _zipped(folder, place / "job.zip")
        except BaseException:
            shutil.rmtree(place, ignore_errors=True)
            raise
        # Results may be larger than memory: they are sent from the file, which is then removed.
        gone = BackgroundTask(shutil.rmtree, place, ignore_errors=True)
        return FileResponse(archive, media_type=_ZIP, background=gone)


def _zipped(folder: Path, archive: Path) -> Path:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as made:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                made.write(file, file.relative_to(folder))
    shutil.rmtree(folder)
    return archive
