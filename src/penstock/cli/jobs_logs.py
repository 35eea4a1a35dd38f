"""`penstock jobs logs` and `history`: what happened to a job, and what was done to it."""

from __future__ import annotations

import sys
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.job_argument import JobArgument
from penstock.cli.options import JsonOption
from penstock.cli.output import examples, talk, write_json, write_line, write_list
from penstock.cli.served import office_of
from penstock.text.times import time_text

if TYPE_CHECKING:
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
    office = office_of(context)
    found = office.log(name)
    for line in found[-lines:] if lines else ():
        _write(*line, json=json)
    if not found and not follow:
        talk(f'nothing has happened to job "{name}" yet')
    # A line that is torn while it is written is there the next time.
    seen = set(found)
    try:
        while follow:
            # What reads along may be a pipe, which would wait for a full buffer.
            sys.stdout.flush()
            time.sleep(_PAUSE)
            for line in office.log(name):
                if line not in seen:
                    seen.add(line)
                    _write(*line, json=json)
    except KeyboardInterrupt:
        pass


def history(context: typer.Context, name: JobArgument, json: JsonOption = False) -> None:
    """Show what was done to a job, by whom and when, oldest first."""
    events = office_of(context).history(name)
    rows = [asdict(item) if json else {**asdict(item), "at": time_text(item.at)} for item in events]
    write_list(rows, as_json=json, none_yet="nothing was done to it yet")


def _write(run: str, entry: Entry, *, json: bool) -> None:
    if json:
        write_json({"run": run, **asdict(entry)})
    else:
        write_line(f"{time_text(entry.at)}  {run}  {entry.level:<7}  {entry.text}")
