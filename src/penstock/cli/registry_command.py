"""`penstock registry`: offer the schemas of the log to other programs."""

from __future__ import annotations

import signal
import sys
import threading
from typing import Annotated

import typer

from penstock.cli.opened_log import opened_log
from penstock.cli.options import JsonOption, settings_of
from penstock.cli.output import examples, talk, write_json, write_line


def register(application: typer.Typer) -> None:
    """Add the commands of this file."""
    group = typer.Typer(no_args_is_help=True)
    group.command(
        "serve",
        epilog=examples("penstock registry serve", "penstock registry serve --port 0 --json"),
    )(serve)
    application.add_typer(
        group,
        name="registry",
        help="Offer the registry of schemas over HTTP.",
        epilog=examples("penstock registry serve"),
    )


def serve(
    context: typer.Context,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0: any free port.")] = 8081,
    host: Annotated[
        str,
        typer.Option("--host", help="The address to listen at."),
    ] = "127.0.0.1",
    json: JsonOption = False,
) -> None:
    """Offer the registry to clients, until Ctrl-C.

    It speaks as Confluent's Schema Registry does. Prints the address, which clients are told as
    `schema.registry.url`.
    """
    from penstock.schema.registry.open import open_schemas  # noqa: PLC0415  # Arrow: 0.1 s
    from penstock.serve.registry.api import registry_app  # noqa: PLC0415  # FastAPI: 0.5 s
    from penstock.serve.server import HttpServer  # noqa: PLC0415

    # A service manager stops what it started by this signal: an end as orderly as by Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with opened_log(context, create=True) as log:
        registry = open_schemas(log, settings_of(context).registry_url)
        try:
            with HttpServer(registry_app(registry), port=port, host=host) as server:
                _show(server.url, json=json)
                threading.Event().wait()
        finally:
            registry.close()


def _show(url: str, *, json: bool) -> None:
    if json:
        write_json({"url": url})
    else:
        write_line(url)
    sys.stdout.flush()
    talk("serving; Ctrl-C stops")
