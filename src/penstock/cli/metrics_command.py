"""`penstock metrics`: the numbers of jobs, topics, groups and alerts, by Prometheus's names."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.opened_log import opened_log
from penstock.cli.options import JsonOption, settings_of
from penstock.cli.output import examples, talk, write_json, write_line
from penstock.cli.served import asked_server, refuse_server

if TYPE_CHECKING:
    from penstock.watch.sample import Family


def register(application: typer.Typer) -> None:
    """Add the command of this file."""
    application.command(
        "metrics",
        epilog=examples(
            "penstock metrics",
            "penstock metrics --name penstock_lag_records --json",
            "penstock metrics --serve 9464",
        ),
    )(metrics)


def metrics(
    context: typer.Context,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="Only the samples of this name.")
    ] = None,
    serve: Annotated[
        int | None,
        typer.Option(
            "--serve",
            metavar="PORT",
            min=0,
            max=65535,
            help="Offer them at http://127.0.0.1:PORT/metrics, until Ctrl-C; 0: any free port.",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Print what is measured now, in Prometheus's text format."""
    server = asked_server(context)
    if server is not None:
        if serve is not None:
            refuse_server(context, "penstock metrics --serve")
        _write_served(server.text("/metrics"), name, json=json)
        return
    if serve is not None:
        _serve(context, serve, json=json)
        return
    found = [family for family in _collect(context) if name in (None, family.name)]
    if json:
        write_json(_document(found))
    else:
        from penstock.watch.exposition import exposition  # noqa: PLC0415

        sys.stdout.write(exposition(found))


def _write_served(text: str, name: str | None, *, json: bool) -> None:
    from penstock.watch.exposition import families_of, with_name  # noqa: PLC0415

    if json:
        found = [family for family in families_of(text) if name in (None, family.name)]
        write_json(_document(found))
    else:
        sys.stdout.write(text if name is None else with_name(text, name))


def _collect(context: typer.Context) -> list[Family]:
    from penstock.watch.metrics import collect  # noqa: PLC0415  # polars: 0.2 s

    with opened_log(context) as log:
        return collect(settings_of(context).home, log)


def _serve(context: typer.Context, port: int, *, json: bool) -> None:
    from penstock.watch.exposition import exposition  # noqa: PLC0415
    from penstock.watch.metrics_server import MetricsServer  # noqa: PLC0415

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with closing(MetricsServer(lambda: exposition(_collect(context)), port)) as server:
        write_json({"url": server.url}) if json else write_line(server.url)
        sys.stdout.flush()
        talk("serving; Ctrl-C stops")
        threading.Event().wait()


def _document(families: Sequence[Family]) -> list[dict[str, object]]:
    return [
        {"name": family.name, "kind": family.kind, "labels": sample.labels, "value": sample.value}
        for family in families
        for sample in family.samples
    ]
