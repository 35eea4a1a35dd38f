"""`penstock jobs rewind`, `rescale`, `savepoint`, `restore`, `clone`, `export`.

Each waits until the job is quiet, does its work, and lets the job go on.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.job_argument import JobArgument, TimeoutOption
from penstock.cli.options import JsonOption
from penstock.cli.output import examples, talk, waiting, write_json, write_table
from penstock.cli.served import office_of, tell_of_host
from penstock.errors import UsageError
from penstock.text.sizes import size_text

_PATIENCE = 60.0


def register(group: typer.Typer) -> None:
    """Add the commands of this file."""
    group.command(
        "rewind",
        epilog=examples(
            "penstock jobs rewind shop --to beginning --drop-results",
            "penstock jobs rewind shop --to 2026-01-31T12:00:00Z",
            "penstock jobs rewind shop --to end",
            "penstock jobs rewind shop --to clicks:0=42 --to clicks:1=17",
        ),
    )(rewind)
    group.command("rescale", epilog=examples("penstock jobs rescale shop 8"))(rescale)
    group.command(
        "savepoint",
        epilog=examples("penstock jobs savepoint shop", "penstock jobs savepoint shop kept/shop-1"),
    )(savepoint)
    group.command(
        "restore",
        epilog=examples(
            "penstock jobs restore shop kept/shop-1",
            "penstock jobs restore shop-again kept/shop-1 --parallelism 4",
        ),
    )(restore)
    group.command(
        "clone",
        epilog=examples(
            "penstock jobs clone shop shop-test",
            "penstock jobs clone shop shop-test --suffix .test --paused",
            "penstock jobs clone shop shop-test --topic clicks_by_page=tried --from-beginning",
        ),
    )(clone)
    group.command(
        "export",
        epilog=examples(
            "penstock jobs export shop taken-along",
            "penstock jobs export shop taken-along --with-input",
        ),
    )(export)


def rewind(
    context: typer.Context,
    name: JobArgument,
    *,
    to: Annotated[
        list[str],
        typer.Option("--to", metavar="PLACE", help="beginning, end, a time, or TOPIC:N=OFFSET."),
    ],
    drop_results: Annotated[
        bool, typer.Option("--drop-results", help="What it has written so far is removed.")
    ] = False,
    timeout: TimeoutOption = _PATIENCE,
    json: JsonOption = False,
) -> None:
    """Let a job begin anew at a place of its input, with nothing that it remembers."""
    with waiting(f"rewinding {name}"):
        rows = office_of(context).rewind(name, to, drop_results=drop_results, seconds=timeout)
    if json:
        write_json(rows)
        return
    columns = ("topic", "partition", "before", "after")
    write_table(
        columns, [["-" if row[key] is None else row[key] for key in columns] for row in rows]
    )


def rescale(
    context: typer.Context,
    name: JobArgument,
    parallelism: Annotated[int, typer.Argument(metavar="TASKS", help="Tasks at a time.")],
    *,
    timeout: TimeoutOption = _PATIENCE,
    json: JsonOption = False,
) -> None:
    """Let a job go on with so many tasks at a time; it keeps its state and its place."""
    with waiting(f"rescaling {name}"):
        done = office_of(context).rescale(name, parallelism, seconds=timeout)
    if json:
        write_json(done)
        return
    talk(
        f'job "{name}" has {done["after"]} tasks at a time in the place of {done["before"]}:'
        f" {done['states']} states moved in {done['milliseconds']} ms"
    )


def savepoint(
    context: typer.Context,
    name: JobArgument,
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="[FOLDER]", help="A new folder; by default below the home."),
    ] = None,
    *,
    timeout: TimeoutOption = _PATIENCE,
    json: JsonOption = False,
) -> None:
    """Keep all that a job knows in a folder: its state, its place and its program."""
    with waiting(f"saving {name}"):
        done = office_of(context).savepoint(name, folder, seconds=timeout)
    if json:
        write_json(done)
        return
    talk(f'job "{name}" is saved in "{done["folder"]}", {size_text(done["bytes"])}')


def restore(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="JOB", help="A job's name; a new one makes the job again.")
    ],
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A savepoint.")],
    *,
    parallelism: Annotated[
        int | None, typer.Option("--parallelism", min=1, help="Tasks at a time.")
    ] = None,
    timeout: TimeoutOption = _PATIENCE,
    json: JsonOption = False,
) -> None:
    """Let a job go on with what a savepoint knows."""
    office = office_of(context)
    with waiting(f"restoring {name}"):
        done = office.restore(name, folder, parallelism=parallelism, seconds=timeout)
    if json:
        write_json(done)
        return
    talk(f'job "{name}" goes on from "{folder}", restored in {done["milliseconds"]} ms')
    tell_of_host(office)


def clone(  # noqa: PLR0913  # each parameter is an option
    context: typer.Context,
    name: JobArgument,
    copy: Annotated[str, typer.Argument(metavar="NAME", help="What the copy is called.")],
    *,
    topic: Annotated[
        list[str] | None,
        typer.Option("--topic", metavar="OLD=NEW", help="Where it writes, topic by topic."),
    ] = None,
    suffix: Annotated[
        str, typer.Option("--suffix", help="What its topics end in; by default -NAME.")
    ] = "",
    fresh: Annotated[
        bool, typer.Option("--from-beginning", help="With nothing that the first remembers.")
    ] = False,
    paused: Annotated[bool, typer.Option("--paused", help="It waits to be resumed.")] = False,
    timeout: TimeoutOption = _PATIENCE,
    json: JsonOption = False,
) -> None:
    """Make a copy of a job that goes on from what it knows, and writes to topics of its own."""
    from penstock.jobs.clone import Clone  # noqa: PLC0415
    from penstock.jobs.view import definition_document  # noqa: PLC0415

    office = office_of(context)
    wanted = Clone(
        name=copy, topics=_renamed(topic or []), suffix=suffix, fresh=fresh, paused=paused
    )
    with waiting(f"copying {name}"):
        made = office.clone(name, wanted, seconds=timeout)
    if json:
        write_json(definition_document(made))
        return
    talk(f'job "{copy}" is a copy of "{name}"')
    tell_of_host(office)


def export(
    context: typer.Context,
    name: JobArgument,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A new folder.")],
    *,
    with_input: Annotated[
        bool, typer.Option("--with-input", help="The records that it reads, too.")
    ] = False,
    timeout: TimeoutOption = _PATIENCE,
    json: JsonOption = False,
) -> None:
    """Write a job with its results, state and place into a folder that needs no Penstock."""
    with waiting(f"exporting {name}"):
        done = office_of(context).export(name, folder, with_input=with_input, seconds=timeout)
    if json:
        write_json(done)
        return
    write_table(("file", "rows"), list(done["rows"].items()))


def _renamed(words: list[str]) -> dict[str, str]:
    found = [word.partition("=") for word in words]
    for old, sign, new in found:
        if not (old and sign and new):
            raise UsageError(
                "CLONE_TOPIC",
                f'"{old}{sign}{new}" does not say what a topic is to be called',
                hint="Write it as --topic OLD=NEW.",
            )
    return {old: new for old, _, new in found}
