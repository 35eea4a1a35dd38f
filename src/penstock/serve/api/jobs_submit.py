"""Programs over HTTP: files that become a job. Their code runs as the server: for admins."""

from __future__ import annotations

import hashlib
import re
from dataclasses import asdict, dataclass, field, replace
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import Field

from penstock.errors import UsageError
from penstock.jobs.view import definition_document
from penstock.model.physical import Settings
from penstock.serve.access.needs import needs
from penstock.serve.access.role import Role
from penstock.serve.record_rows import plain

_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
_PLACE = "submitted"


@dataclass(frozen=True, slots=True)
class Program:
    """The files of a program by their names, and which of them is run: `shop.py` or `shop.py:app`.

    `settings` are those of [jobs.NAME], such as guarantee.
    """

    files: Annotated[dict[str, str], Field(min_length=1, max_length=200)]
    program: Annotated[str, Field(max_length=300)]
    name: Annotated[str, Field(max_length=100)] = ""
    application: Annotated[str, Field(max_length=100)] = ""
    settings: dict[str, str | int | float | bool] = field(default_factory=dict)
    parallelism: Annotated[int | None, Field(ge=1, le=1000)] = None
    buckets: Annotated[int | None, Field(ge=1, le=10_000)] = None
    fuse: bool | None = None
    paused: bool = False
    bounded: bool | None = None


def add_routes(router: APIRouter, home: Path) -> None:
    """Add the route of this file."""

    @router.post("", dependencies=[needs(Role.ADMIN)], status_code=HTTPStatus.CREATED)
    def submit_job(program: Program) -> dict[str, Any]:
        """Make a job of a program; the same one again changes nothing but its settings."""
        return submitted(home, program)


def submitted(home: Path, program: Program) -> dict[str, Any]:
    """Make a job of a program that came along."""
    from penstock.app import bounded_run  # noqa: PLC0415  # PySpark: seconds
    from penstock.jobs.said_settings import settings_said  # noqa: PLC0415
    from penstock.jobs.submit import Submission, submit  # noqa: PLC0415
    from penstock.project.program_file import load_program  # noqa: PLC0415
    from penstock.text.durations import parse_duration  # noqa: PLC0415

    try:
        app = load_program(_written(home, program))
    except SystemExit as ended:
        # It would end the server.
        raise UsageError(
            "PROGRAM_MISSING",
            f"the program ends by itself ({ended.code}) while it is read",
            hint="Let it end below `if __name__ == '__main__':` only.",
        ) from ended
    said: dict[str, Any] = dict(program.settings)
    for key in ("latency", "batch_every"):
        if key in said and said[key] != "realtime":
            said[key] = parse_duration(str(said[key]))
    physical = app.physical(_plan_settings(program))
    submission = Submission(
        name=program.name,
        application=program.application,
        source=app.source,
        settings=settings_said(app.how(name=program.name), said, "a request"),
        bounded=bounded_run(physical, bounded=program.bounded),
        wish="paused" if program.paused else "running",
    )
    done = submit(home, physical, submission)
    document = definition_document(done.definition)
    return dict(plain(document | {"outcome": done.outcome, "changed": done.changed}))


def _plan_settings(program: Program) -> Settings:
    said = {
        name: value
        for name in ("parallelism", "buckets", "fuse")
        if (value := getattr(program, name)) is not None
    }
    return replace(Settings(), **said)


def _written(home: Path, program: Program) -> str:
    """Write the files where they stay, since a job's program may read them again."""
    main, colon, app = program.program.partition(":")
    if main not in program.files or not main.endswith(".py"):
        raise UsageError(
            "PROGRAM_MISSING",
            f'"{main}" is none of the files that came along, or no Python',
            hint="Name one of the files, such as shop.py, or shop.py:app.",
        )
    for name in program.files:
        if not all(_PART.fullmatch(part) for part in name.split("/")):
            raise UsageError(
                "PROGRAM_PATH",
                f'"{name}" cannot be the name of a file of a program',
                hint="Use letters, digits, dots, dashes and underscores, with / between folders.",
            )
    told = "\0".join(f"{name}\0{text}" for name, text in sorted(asdict(program)["files"].items()))
    folder = home / _PLACE / hashlib.sha256(told.encode()).hexdigest()[:16]
    for name, text in program.files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return f"{folder / main}{colon}{app}"
