"""`penstock lineage`: what jobs read and write, and which columns are made of which."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.job_argument import complete_job
from penstock.cli.options import JsonOption, exported_flags, settings_of
from penstock.cli.output import examples, talk, write_json, write_line
from penstock.cli.served import asked_server
from penstock.errors import PenstockError, UsageError

if TYPE_CHECKING:
    from penstock.client.server import Server
    from penstock.watch.lineage import JobLineage


def register(application: typer.Typer) -> None:
    """Add the command of this file."""
    application.command(
        "lineage",
        epilog=examples(
            "penstock lineage",
            "penstock lineage shop --json",
            "penstock lineage shop.py --dot",
            "penstock lineage shop --openlineage",
        ),
    )(lineage)


def lineage(
    context: typer.Context,
    job: Annotated[
        str | None,
        typer.Argument(
            metavar="JOB|FILE[:APP]",
            help="A job's name, the id of a run, or a program; all jobs without one.",
            autocompletion=complete_job,
        ),
    ] = None,
    *,
    dot: Annotated[bool, typer.Option("--dot", help="Print a graph for Graphviz.")] = False,
    openlineage: Annotated[
        bool, typer.Option("--openlineage", help="Print OpenLineage's run events, one a line.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Show what jobs read and write, and which columns are made of which."""
    if dot + openlineage + json > 1:
        raise UsageError(
            "LINEAGE_FORM",
            "lineage is asked for in two forms at once",
            hint="Give one of --dot, --openlineage and --json.",
        )
    server = asked_server(context)
    if server is not None and not (job or "").partition(":")[0].endswith(".py"):
        _write_served(server, job, asked=(dot, openlineage), json=json)
        return
    found = list(_found(context, job))
    if openlineage:
        _write_events(context, found)
    elif dot:
        from penstock.watch.lineage import graph_lines  # noqa: PLC0415

        for line in graph_lines(item for item, _ in found):
            write_line(line)
    elif json:
        from penstock.watch.lineage import lineage_document  # noqa: PLC0415

        write_json([lineage_document(item) for item, _ in found])
    else:
        _write_text([item for item, _ in found])


def _write_served(server: Server, job: str | None, *, asked: tuple[bool, bool], json: bool) -> None:
    """Show what a server says of its jobs as that of a home is shown."""
    from urllib.parse import quote  # noqa: PLC0415

    from penstock.watch.lineage import graph_lines, read_lineage  # noqa: PLC0415

    dot, openlineage = asked
    if openlineage:
        raise UsageError(
            "SERVER_COMMAND",
            "`penstock lineage --openlineage` works on a home itself, and cannot be asked of a"
            " server",
            hint="Leave out --server, and name the directory with --home.",
        )
    names = [one["name"] for one in server.items("/jobs")] if job is None else [job]
    documents = [server.get(f"/lineage/{quote(name, safe='')}") for name in names]
    found = [read_lineage(document) for document in documents]
    if json:
        write_json(documents)
    elif dot:
        for line in graph_lines(found):
            write_line(line)
    else:
        _write_text(found)


def _found(context: typer.Context, job: str | None) -> Iterator[tuple[JobLineage, str]]:
    """Give lineages, and the id of the latest run of each where there is one."""
    from penstock.watch.lineage import job_lineage, plan_of  # noqa: PLC0415

    if job is not None and job.partition(":")[0].endswith(".py"):
        from penstock.project.program_file import load_program  # noqa: PLC0415

        with exported_flags(context):
            yield job_lineage(load_program(job).bound()), ""
        return
    home = settings_of(context).home
    for name, run in _names(home) if job is None else [_named(home, job)]:
        from penstock.jobs.submit import known_program  # noqa: PLC0415  # PySpark: seconds

        try:
            program = known_program(home, run or name)
        except PenstockError as error:
            if job is not None:
                raise
            talk(f"the program of {name} is not known: {error.fact}")
            continue
        yield job_lineage(plan_of(program), name), run


def _names(home: Path) -> list[tuple[str, str]]:
    from penstock.watch.seen_job import seen_jobs  # noqa: PLC0415

    seen = [(job.name, "" if job.run is None else job.run.id) for job in seen_jobs(home)]
    if not seen:
        talk("there are no jobs; one begins with: penstock jobs submit FILE")
    return seen


def _named(home: Path, text: str) -> tuple[str, str]:
    from penstock.jobs.named import named  # noqa: PLC0415

    found = named(home, text)
    name = found.name if found.run is None else found.run.name
    return name, "" if found.run is None else found.run.id


def _write_events(context: typer.Context, found: list[tuple[JobLineage, str]]) -> None:
    from penstock.clock import SYSTEM_CLOCK  # noqa: PLC0415
    from penstock.jobs.store import job_store  # noqa: PLC0415
    from penstock.watch.lineage_emitter import lineage_settings  # noqa: PLC0415
    from penstock.watch.open_lineage import NAMESPACE, Run, run_event, run_of  # noqa: PLC0415

    settings = settings_of(context)
    told = lineage_settings(settings.lineage)
    namespace = NAMESPACE if told is None else told.namespace
    now = SYSTEM_CLOCK.now()
    for item, run in found:
        seen = run_of(job_store(settings.home).job(run), now) if run else None
        write_json(run_event(item, seen or Run(item.job, now, now, "START"), namespace))


def _write_text(found: list[JobLineage]) -> None:
    from penstock.watch.lineage import column_texts  # noqa: PLC0415

    for number, item in enumerate(found):
        if number:
            write_line("")
        reads = ", ".join(f"{source.kind} {source.name}" for source in item.inputs)
        write_line(f"job {item.job} reads {reads or 'nothing'}")
        for written in item.outputs:
            write_line(f"  writes {written.dataset.kind} {written.dataset.name}")
            for column, made in column_texts(written).items():
                write_line(f"    {column} <- {', '.join(made) or 'no column'}")
