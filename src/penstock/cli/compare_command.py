"""`penstock compare`: engines for streams beside one another, to choose by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

import typer

from penstock.cli.compared_engines import COLUMNS, ENGINES, IN_SHORT, Engine
from penstock.cli.options import JsonOption
from penstock.cli.output import examples, write_json, write_line, write_table
from penstock.errors import UsageError, did_you_mean

_WIDTH = max(map(len, COLUMNS))


def register(application: typer.Typer) -> None:
    """Add the command of this file."""
    application.command(
        "compare",
        epilog=examples(
            "penstock compare", "penstock compare flink penstock", "penstock compare --json"
        ),
    )(compare)


def compare(
    engines: Annotated[
        list[str] | None, typer.Argument(help="Engines to tell all about, such as flink.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Compare engines for streams: model, guarantee, state, latency, and what each is for."""
    chosen = [_found(name) for name in engines or ()]
    if json:
        write_json([asdict(engine) for engine in chosen or ENGINES])
    elif chosen:
        _write_all(chosen)
    else:
        rows = [
            [engine.engine, *(getattr(engine, name) for name in IN_SHORT)] for engine in ENGINES
        ]
        write_table(["engine", *IN_SHORT], rows)


def _write_all(engines: Sequence[Engine]) -> None:
    for number, engine in enumerate(engines):
        write_line(("\n" if number else "") + engine.engine)
        for name in COLUMNS:
            write_line(f"  {name:<{_WIDTH}}  {getattr(engine, name)}")


def _found(name: str) -> Engine:
    by_name = {_key(engine.engine): engine for engine in ENGINES}
    found = by_name.get(_key(name))
    if found is None:
        raise UsageError(
            "ENGINE_MISSING",
            f'engine "{name}" is not compared',
            hint=did_you_mean(_key(name), by_name) or f"Engines: {', '.join(by_name)}.",
        )
    return found


def _key(name: str) -> str:
    return name.strip().lower().replace(" ", "-").replace("_", "-")
