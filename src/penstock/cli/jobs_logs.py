"""`penstock jobs logs` and `history`: what happened to a job, and what was done to it."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.job_argument import JobArgument, home_of
from penstock.cli.options import JsonOption
from penstock.cli.output import examples, talk, write_json, write_line, write_list
from penstock.cli.times import time_text

if TYPE_CHECKING:
    from pathlib import Path

    from penstock.jobs.job_log import Entry

_PAUSE = 0.5


def register(group: typer.Typer) -> None:
    """Add the commands of this file."""
    group.command(
        "logs",
        epilog=examples(
            "penstock jobs logs shop",
            "penstock jobs logs shop --follow",
            "penstock jobs logs shop-3 --lines 20 --json",
        ),
    )(logs)
    group.command(
        "history",
        epilog=examples("penstock jobs history shop", "penstock jobs history shop --json"),
    )(history)


def logs(
    context: typer.Context,
    name: JobArgument,
    *,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on with what happens, until Ctrl-C.")
    ] = False,
    lines: Annotated[
        int, typer.Option("--lines", "-n", min=0, help="How many of the latest to begin with.")
    ] = 200,
    json: JsonOption = False,
) -> None:
    """Show what happened during the runs of a job, or during one run, oldest first."""
    home = home_of(context)
    found = _lines(home, name)
    for line in found[-lines:] if lines else ():
        _write(*line, json=json)
    if not found and not follow:
        talk(f'nothing has happened to job "{name}" yet')
    # A line that is torn while it is written is there the next time.
    seen = set(found)
    try:
        while follow:
            time.sleep(_PAUSE)
            for line in _lines(home, name):
                if line not in seen:
                    seen.add(line)
                    _write(*line, json=json)
    except KeyboardInterrupt:
        pass


def history(context: typer.Context, name: JobArgument, json: JsonOption = False) -> None:
    """Show what was done to a job, by whom and when, oldest first."""
    from penstock.jobs.definitions import definition_store  # noqa: PLC0415
    from penstock.jobs.named import require_defined  # noqa: PLC0415

    home = home_of(context)
    events = definition_store(home).history(require_defined(home, name).name)
    rows = [asdict(item) if json else {**asdict(item), "at": time_text(item.at)} for item in events]
    write_list(rows, as_json=json, none_yet="nothing was done to it yet")


def _lines(home: Path, name: str) -> list[tuple[str, Entry]]:
    from penstock.jobs.named import named  # noqa: PLC0415
    from penstock.jobs.store import job_store  # noqa: PLC0415

    store = job_store(home)
    found = named(home, name)
    # The id of a run asks for that run alone.
    runs = [run.id for run in found.runs if name in {found.name, run.id}]
    lines = [(run, entry) for run in runs for entry in store.log(run).entries()]
    return sorted(lines, key=lambda line: line[1].at)


def _write(run: str, entry: Entry, *, json: bool) -> None:
    if json:
        write_json({"run": run, **asdict(entry)})
    else:
        write_line(f"{time_text(entry.at)}  {run}  {entry.level:<7}  {entry.text}")
