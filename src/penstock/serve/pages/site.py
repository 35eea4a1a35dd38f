"""The pages of a platform, on the port of its API."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from fastapi import FastAPI, Request, Response
from nicegui import Client, app, core, ui
from nicegui.page import page
from typing_extensions import override

from penstock.errors import PenstockError, RequestError
from penstock.serve.pages import (
    alerts,
    dashboard,
    dashboards,
    dead_letters,
    home,
    job,
    jobs,
    schemas,
    topic,
    topics,
    windows,
    workbench,
)
from penstock.serve.pages.error_panel import error_panel
from penstock.serve.pages.frame import frame
from penstock.serve.pages.theme import MARK, install_theme
from penstock.serve.platform import Platform
from penstock.serve.problem import problem_response

PAGES: tuple[Callable[[Platform], None], ...] = (
    home.register,
    topics.register,
    topic.register,
    schemas.register,
    jobs.register,
    job.register,
    windows.register,
    workbench.register,
    dashboards.register,
    dashboard.register,
    dead_letters.register,
    alerts.register,
)
"""Each declares the pages of one file."""
_NOT_FOUND = 404


def add_pages(application: FastAPI, platform: Platform) -> None:
    """Add all pages to an application; once in a process, since NiceGUI has one site."""
    app.state.home_name = platform.home.name or str(platform.home)
    install_theme()
    for register in PAGES:
        register(platform)
    app.add_exception_handler(_NOT_FOUND, _not_found)
    logging.getLogger("nicegui").addFilter(_WithoutOurErrors())
    # Only pages of this server may talk to it. What it would allow by itself is http:// only.
    core.sio.eio.cors_allowed_origins = _is_own
    ui.run_with(
        application,
        title="Penstock",
        favicon=MARK,
        dark=None,
        language="en-US",
        tailwind=False,
        show_welcome_message=False,
        binding_refresh_interval=0.5,
        reconnect_timeout=30.0,
    )


def _is_own(origin: str | None, environ: Mapping[str, Any]) -> bool:
    return origin is not None and urlsplit(origin).netloc == environ.get("HTTP_HOST")


class _WithoutOurErrors(logging.Filter):
    """Keeps coded errors out of the log: the user has seen them, and they are no fault of ours."""

    @override
    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        return not isinstance(error or record.msg, PenstockError)


def _not_found(request: Request, _: Exception) -> Response:
    refused = RequestError(
        "PAGE_MISSING",
        f'there is no page "{request.url.path}"',
        hint="The navigation leads to all there are.",
    )
    if "text/html" not in request.headers.get("accept", ""):
        return problem_response(refused)
    with Client(page(""), request=request) as client:
        with frame("No such page"):
            error_panel(refused)
        return client.build_response(request, _NOT_FOUND)
