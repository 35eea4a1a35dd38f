"""The jobs of a server, asked as those of a home are."""

from __future__ import annotations

import io
import re
import time
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from typing_extensions import override

from penstock.client.server import Server
from penstock.errors import ConfigError, JobError, UsageError
from penstock.jobs.definition import Definition, Event
from penstock.jobs.document import from_document
from penstock.jobs.job import Job
from penstock.jobs.job_log import Entry
from penstock.jobs.office import Document, JobOffice, Line, Wished
from penstock.jobs.stop import Mode
from penstock.jobs.view import JobView
from penstock.jobs.view_document import read_definition, read_view
from penstock.model.recovery_report import RecoveryReport

if TYPE_CHECKING:
    from penstock.jobs.clone import Clone
    from penstock.plan.explain import Stage

_PAUSE = 0.2
_LONGEST = 50.0
"""Seconds that a server takes for one answer."""
_MOST_LINES = 10_000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,120}")


class ServerJobs(JobOffice):
    """Asks a server; what it refuses is raised as the error it was."""

    def __init__(self, server: Server) -> None:
        self._server = server

    @override
    def views(self) -> tuple[JobView, ...]:
        rest: Document = {"runs": [], "versions": [], "history": []}
        found = self._server.items("/jobs")
        return tuple(read_view(rest | item) for item in found)

    @override
    def view(self, name: str) -> JobView:
        return read_view(self._server.get(_path(name)))

    @override
    def recovery(self, name: str) -> RecoveryReport | None:
        found = self._server.get(_path(name))["recovery"]
        return None if found is None else from_document(RecoveryReport, found)

    @override
    def plan(self, name: str, stage: Stage) -> Mapping[str, str]:
        found: Mapping[str, str] = self._server.get(_path(name), stage=stage)["plan"]
        return found

    @override
    def log(self, name: str) -> list[Line]:
        found = self._server.get(f"{_path(name)}/logs", lines=_MOST_LINES)
        return [(item["run"], from_document(Entry, item)) for item in found]

    @override
    def history(self, name: str) -> tuple[Event, ...]:
        found = self._server.get(f"{_path(name)}/history")
        return tuple(from_document(Event, item) for item in found)

    @override
    def wish(self, name: str, what: Wished) -> Definition:
        return read_definition(self._server.post(f"{_path(name)}/{what}"))

    @override
    def stop(self, name: str, mode: Mode) -> Definition | Job:
        found = self._server.post(f"{_path(name)}/{mode}")
        return read_definition(found) if "wish" in found else from_document(Job, found)

    @override
    def wait_until_ended(self, name: str, seconds: float) -> Job | None:
        deadline = time.monotonic() + seconds
        while runs := self._server.get(f"{_path(name)}/running"):
            if time.monotonic() >= deadline:
                raise JobError(
                    "JOB_STOPPING",
                    f'job "{name}" is still run by "{runs[0]}" after {seconds:g} s',
                    hint="It ends after the batch in hand; `penstock jobs cancel` ends it at once.",
                )
            time.sleep(_PAUSE)
        view = self.view(name)
        return view.run if view.definition is None else None

    @override
    def remove(self, name: str, *, keep_state: bool, seconds: float) -> Definition:
        told = self._server.delete(
            _path(name), keep_state=keep_state, seconds=min(seconds, _LONGEST)
        )
        return read_definition(told)

    @override
    def rewind(
        self, name: str, to: Sequence[str], *, drop_results: bool, seconds: float
    ) -> list[Document]:
        wanted = {"to": list(to), "drop_results": drop_results}
        asked = wanted | {"seconds": min(seconds, _LONGEST)}
        found: list[Document] = self._server.post(f"{_path(name)}/rewind", asked)
        return found

    @override
    def rescale(self, name: str, parallelism: int, *, seconds: float) -> Document:
        return self._moved(name, "rescale", {"parallelism": parallelism}, seconds)

    @override
    def savepoint(self, name: str, folder: Path | None, *, seconds: float) -> Document:
        place = None if folder is None else _plain_name(folder)
        return self._moved(name, "savepoint", {"folder": place}, seconds)

    @override
    def restore(
        self, name: str, folder: Path, *, parallelism: int | None, seconds: float
    ) -> Document:
        wanted = {"folder": _plain_name(folder), "parallelism": parallelism}
        return self._moved(name, "restore", wanted, seconds)

    @override
    def clone(self, name: str, wanted: Clone, *, seconds: float) -> Definition:
        asked = asdict(wanted) | {"topics": dict(wanted.topics)}
        return read_definition(self._moved(name, "clone", asked, seconds))

    @override
    def export(self, name: str, folder: Path, *, with_input: bool, seconds: float) -> Document:
        if folder.exists():
            raise UsageError(
                "EXPORT_EXISTS",
                f'"{folder}" exists already',
                hint="Give a folder that does not exist yet.",
            )
        asked = {"with_input": with_input, "seconds": min(seconds, _LONGEST)}
        content = self._server.post_for_bytes(f"{_path(name)}/export", asked)
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            archive.extractall(folder)
        return {"folder": str(folder), "rows": _rows_of(folder)}

    @override
    def hosted(self) -> bool:
        return bool(self._server.get("/jobs", limit=1)["hosted"])

    def submit(self, program: Document) -> Document:
        """Make a job of the files of a program."""
        found: Document = self._server.post("/jobs", program)
        return found

    def _moved(self, name: str, what: str, asked: Document, seconds: float) -> Document:
        body = asked | {"seconds": min(seconds, _LONGEST)}
        found: Document = self._server.post(f"{_path(name)}/{what}", body)
        return found


def _path(name: str) -> str:
    return f"/jobs/{quote(name, safe='')}"


def _plain_name(folder: Path) -> str:
    if not _NAME.fullmatch(str(folder)):
        raise ConfigError(
            "SERVER_PATH",
            f'"{folder}" is a path, and a server keeps savepoints by their names',
            hint="Give a name of letters, digits, dots, dashes and underscores.",
        )
    return str(folder)


def _rows_of(folder: Path) -> dict[str, int]:
    import pyarrow.parquet as pq  # noqa: PLC0415  # Arrow: 0.1 s

    return {
        str(file.relative_to(folder)): pq.read_metadata(file).num_rows
        for file in sorted(folder.rglob("*.parquet"))
    }
