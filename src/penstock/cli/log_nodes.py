"""`penstock log serve` and `penstock log nodes`: offer the log to clients, see who does."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.options import JsonOption, settings_of
from penstock.cli.output import talk, write_json, write_line, write_table
from penstock.text.times import time_text

if TYPE_CHECKING:
    from penstock.log.embedded.nodes import NodeInfo


def serve(
    context: typer.Context,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0: any free port.")] = 0,
    json: JsonOption = False,
) -> None:
    """Offer the log to clients on this machine, until Ctrl-C.

    Prints the address, which `open_log` takes in place of a directory.
    """
    from penstock.log.remote.server import serve_log  # noqa: PLC0415  # numpy and Arrow: 0.1 s

    def on_ready(node: NodeInfo) -> None:
        if json:
            write_json(node._asdict())
        else:
            write_line(node.address)
        sys.stdout.flush()
        talk("serving; Ctrl-C stops")

    # A service manager stops what it started by this signal: an end as orderly as by Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    serve_log(settings_of(context).home, port=port, on_ready=on_ready)


def list_nodes(context: typer.Context, json: JsonOption = False) -> None:
    """List the servers that offer the log now."""
    from penstock.log.embedded.nodes import nodes  # noqa: PLC0415  # with the log

    found = [node._asdict() for node in nodes(settings_of(context).home)]
    if json:
        write_json(found)
    elif found:
        shown = [{**node, "started_at": time_text(node["started_at"])} for node in found]
        write_table(list(shown[0]), [list(node.values()) for node in shown])
    else:
        talk("no server offers the log; start one with: penstock log serve")
