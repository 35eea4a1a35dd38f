"""Where a command does its work: on the home itself, or at a server."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import typer

from penstock.cli.options import settings_of
from penstock.cli.output import talk
from penstock.errors import UsageError

if TYPE_CHECKING:
    from penstock.client.server import Server
    from penstock.jobs.office import JobOffice


def asked_server(context: typer.Context) -> Server | None:
    """Give the server that is to be asked; none where the home is worked on."""
    settings = settings_of(context)
    if not settings.server:
        return None
    from penstock.client.server import server_of  # noqa: PLC0415  # HTTP: 0.2 s

    server = server_of(settings, os.environ)
    context.call_on_close(server.close)
    return server


def office_of(context: typer.Context) -> JobOffice:
    """Give who is asked about jobs."""
    server = asked_server(context)
    if server is not None:
        from penstock.client.jobs import ServerJobs  # noqa: PLC0415

        return ServerJobs(server)
    from penstock.jobs.office import HomeJobs  # noqa: PLC0415  # the log: 0.3 s

    return HomeJobs(settings_of(context).home)


def tell_of_host(office: JobOffice) -> None:
    """Say it where nobody is there to run a job."""
    if not office.hosted():
        talk("no host runs the jobs of this home now; start one with: penstock host")


def refuse_server(context: typer.Context, what: str) -> None:
    """Refuse what only works on a home, where a server is to be asked."""
    settings = settings_of(context)
    if settings.server:
        raise UsageError(
            "SERVER_COMMAND",
            f"`{what}` works on a home itself, and cannot be asked of a server"
            f" ({settings.origins['server']})",
            hint="Leave out --server, and name the directory with --home.",
        )
