"""`penstock jobs submit`: a program in a file becomes a job, which its host runs."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.job_argument import home_of
from penstock.cli.options import JsonOption, exported_flags
from penstock.cli.output import examples, talk, write_json
from penstock.cli.plan_settings import (
    BucketsOption,
    FuseOption,
    ParallelismOption,
    plan_settings,
)
from penstock.cli.program_file import ProgramArgument
from penstock.cli.served import asked_server, office_of, tell_of_host
from penstock.errors import UsageError
from penstock.project.program_file import load_program
from penstock.text.durations import parse_duration

if TYPE_CHECKING:
    from penstock.app import App
    from penstock.client.server import Server
    from penstock.jobs.submit import Submitted
    from penstock.model.job_settings import JobSettings
    from penstock.model.physical import Settings


class GuaranteeName(StrEnum):
    """What a crash may do to results."""

    EXACTLY_ONCE = "exactly-once"
    AT_LEAST_ONCE = "at-least-once"
    AT_MOST_ONCE = "at-most-once"


class RecoveryName(StrEnum):
    """How a crashed job comes back."""

    PASSIVE = "passive"
    UPSTREAM = "upstream"
    ACTIVE = "active"


class IsolationName(StrEnum):
    """Where a job runs."""

    SHARED = "shared"
    PROCESS = "process"


GuaranteeOption = Annotated[
    GuaranteeName | None, typer.Option("--guarantee", help="What a crash may do to results.")
]
RecoveryOption = Annotated[
    RecoveryName | None, typer.Option("--recovery", help="How it comes back after a crash.")
]
IsolationOption = Annotated[
    IsolationName | None,
    typer.Option("--isolation", help="Beside other jobs, or in a process of its own."),
]
LatencyOption = Annotated[
    str | None,
    typer.Option(
        "--latency", metavar="DURATION", help="How long a batch may take at most, or: realtime."
    ),
]
BatchRowsOption = Annotated[
    int | None, typer.Option("--batch-rows", min=1, help="How many rows a batch takes at most.")
]
BatchEveryOption = Annotated[
    str | None,
    typer.Option("--batch-every", metavar="DURATION", help="How often a batch begins at most."),
]
TrimOption = Annotated[
    bool | None,
    typer.Option("--trim/--no-trim", help="Whether the log may forget what it will not need."),
]
RestartsOption = Annotated[
    int | None,
    typer.Option("--restarts", min=0, help="How often in a row it is started again if it fails."),
]


def register(group: typer.Typer) -> None:
    """Add the command of this file."""
    group.command(
        "submit",
        epilog=examples(
            "penstock jobs submit shop.py",
            "penstock jobs submit shop.py:app --name shop-eu --paused",
            "penstock jobs submit shop.py --guarantee at-least-once --latency 500ms",
            "penstock jobs submit shop.py --isolation process --recovery active",
        ),
    )(submit)


def submit(  # noqa: PLR0913  # each parameter is an option
    context: typer.Context,
    program: ProgramArgument,
    *,
    name: Annotated[
        str, typer.Option("--name", metavar="NAME", help="By default that of the program.")
    ] = "",
    application: Annotated[
        str, typer.Option("--application", metavar="NAME", help="What it is part of.")
    ] = "",
    guarantee: GuaranteeOption = None,
    recovery: RecoveryOption = None,
    isolation: IsolationOption = None,
    latency: LatencyOption = None,
    batch_rows: BatchRowsOption = None,
    batch_every: BatchEveryOption = None,
    trim: TrimOption = None,
    restarts: RestartsOption = None,
    paused: Annotated[bool, typer.Option("--paused", help="It waits to be resumed.")] = False,
    bounded: Annotated[
        bool, typer.Option("--bounded", help="It ends where its input ends now.")
    ] = False,
    checkpoint: Annotated[
        str,
        typer.Option(
            "--checkpoint", metavar="DIRECTORY", help="Where it remembers how far it came."
        ),
    ] = "",
    parallelism: ParallelismOption = None,
    buckets: BucketsOption = None,
    fuse: FuseOption = None,
    json: JsonOption = False,
) -> None:
    """Make a job of a program; the same one again changes nothing but its settings.

    A flag wins over the table [jobs.NAME] of penstock.toml, and that over the program.
    """
    said = {
        "guarantee": guarantee,
        "recovery": recovery,
        "isolation": isolation,
        "latency": latency,
        "batch_rows": batch_rows,
        "batch_every": batch_every,
        "trim": trim,
        "restarts": restarts,
    }
    server = asked_server(context)
    if server is not None:
        wanted = {
            "name": name,
            "application": application,
            "settings": {key: value for key, value in said.items() if value is not None},
            "parallelism": parallelism,
            "buckets": buckets,
            "fuse": fuse,
            "paused": paused,
            "bounded": bounded or None,
        }
        _submit_at(server, program, wanted, checkpoint, json=json)
        return
    how = plan_settings(parallelism, buckets, fuse=fuse)
    with exported_flags(context):
        app = load_program(program)
        given = {
            "name": name,
            "application": application,
            "settings": _settings(app, name, said),
            "checkpoint": checkpoint,
            "wish": "paused" if paused else "running",
        }
        done = _submit(context, app, how, given, bounded=bounded or None)
    _tell(done, json=json)
    if done.definition.wish == "running":
        tell_of_host(office_of(context))


def _submit_at(
    server: Server, program: str, given: dict[str, Any], checkpoint: str, *, json: bool
) -> None:
    from penstock.client.jobs import ServerJobs  # noqa: PLC0415  # HTTP
    from penstock.client.program import program_files  # noqa: PLC0415
    from penstock.jobs.submit import Submitted  # noqa: PLC0415
    from penstock.jobs.view_document import read_definition  # noqa: PLC0415

    if checkpoint:
        raise UsageError(
            "SERVER_PATH",
            f'"{checkpoint}" is a path, and a server keeps checkpoints in its home',
            hint="Leave out --checkpoint.",
        )
    office = ServerJobs(server)
    found = office.submit(given | program_files(program))
    done = Submitted(read_definition(found), found["outcome"], found["changed"])
    _tell(done, json=json)
    if done.definition.wish == "running":
        tell_of_host(office)


def _settings(app: App, name: str, said: dict[str, Any]) -> JobSettings:
    from penstock.jobs.said_settings import settings_said  # noqa: PLC0415

    words = {key: value for key, value in said.items() if value is not None}
    for key in ("latency", "batch_every"):
        if key in words and words[key] != "realtime":
            words[key] = parse_duration(words[key])
    plain = {
        key: str(value) if isinstance(value, StrEnum) else value for key, value in words.items()
    }
    return settings_said(app.how(name=name), plain, "a flag")


def _submit(
    context: typer.Context,
    app: App,
    how: Settings,
    given: dict[str, Any],
    *,
    bounded: bool | None,
) -> Submitted:
    from penstock.app import bounded_run  # noqa: PLC0415
    from penstock.jobs.submit import Submission  # noqa: PLC0415
    from penstock.jobs.submit import submit as submit_program  # noqa: PLC0415

    physical = app.physical(how)
    ends = bounded_run(physical, bounded=bounded)
    submission = Submission(**given, source=app.source, bounded=ends)
    return submit_program(home_of(context), physical, submission)


def _tell(done: Submitted, *, json: bool) -> None:
    from penstock.jobs.view import definition_document  # noqa: PLC0415

    definition = done.definition
    if json:
        write_json(definition_document(definition) | {"outcome": done.outcome})
        return
    said = {
        "new": f'job "{definition.name}" is submitted, and {_wished(definition.wish)}',
        "settings": f'job "{definition.name}" has other settings: {done.changed}',
        "unchanged": f'job "{definition.name}" is unchanged, and {_wished(definition.wish)}',
    }
    talk(said[done.outcome])


def _wished(wish: str) -> str:
    return "is to run" if wish == "running" else f"is {wish}"
