"""`penstock jobs pause`, `resume`, `start`, `stop`, `cancel`, `remove`: what is wished of a job."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.job_argument import JobArgument, TimeoutOption, WaitOption
from penstock.cli.options import JsonOption
from penstock.cli.output import examples, talk, waiting, write_json
from penstock.cli.served import office_of, tell_of_host

if TYPE_CHECKING:
    from penstock.jobs.definition import Definition
    from penstock.jobs.job import Job
    from penstock.jobs.office import JobOffice
    from penstock.jobs.stop import Mode

_PATIENCE = 60.0


def register(group: typer.Typer) -> None:
    """Add the commands of this file."""
    group.command(
        "pause",
        epilog=examples("penstock jobs pause shop", "penstock jobs pause shop --no-wait"),
    )(pause)
    group.command("resume", epilog=examples("penstock jobs resume shop"))(resume)
    group.command("start", epilog=examples("penstock jobs start shop"))(start)
    group.command(
        "stop",
        epilog=examples(
            "penstock jobs stop shop",
            "penstock jobs stop shop-1 --now",
            "penstock jobs stop shop-1 --no-wait",
        ),
    )(stop)
    group.command("cancel", epilog=examples("penstock jobs cancel shop"))(cancel)
    group.command(
        "remove",
        epilog=examples(
            "penstock jobs remove shop --yes", "penstock jobs remove shop --keep-state --yes"
        ),
    )(remove)


def pause(
    context: typer.Context,
    name: JobArgument,
    *,
    wait: WaitOption = True,
    timeout: TimeoutOption = _PATIENCE,
    json: JsonOption = False,
) -> None:
    """Let a job rest after the batch in hand, until it is resumed."""
    office = office_of(context)
    definition = office.wish(name, "pause")
    _wait(office, definition.name, timeout if wait else None)
    _tell(definition, json=json)


def resume(context: typer.Context, name: JobArgument, json: JsonOption = False) -> None:
    """Let a paused job go on where it is."""
    office = office_of(context)
    _tell(office.wish(name, "resume"), json=json)
    tell_of_host(office)


def start(context: typer.Context, name: JobArgument, json: JsonOption = False) -> None:
    """Let a job run that was stopped or paused, or that failed too often."""
    office = office_of(context)
    _tell(office.wish(name, "start"), json=json)
    tell_of_host(office)


def stop(
    context: typer.Context,
    name: JobArgument,
    *,
    now: Annotated[
        bool,
        typer.Option("--now", help="At once: the batch in hand is done again by the next start."),
    ] = False,
    wait: WaitOption = True,
    timeout: TimeoutOption = _PATIENCE,
    json: JsonOption = False,
) -> None:
    """Stop a job until it is started; it goes on where it stopped."""
    _stop(context, name, "cancel" if now else "stop", timeout if wait else None, json=json)


def cancel(
    context: typer.Context,
    name: JobArgument,
    *,
    wait: WaitOption = True,
    timeout: TimeoutOption = _PATIENCE,
    json: JsonOption = False,
) -> None:
    """Stop a job at once; the batch in hand is done again by the next start."""
    _stop(context, name, "cancel", timeout if wait else None, json=json)


def remove(
    context: typer.Context,
    name: JobArgument,
    *,
    keep_state: Annotated[
        bool, typer.Option("--keep-state", help="Its checkpoint stays where it is.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Without asking.")] = False,
    timeout: TimeoutOption = _PATIENCE,
    json: JsonOption = False,
) -> None:
    """Forget a stopped job, its versions and its state; the topics it has written stay."""
    office = office_of(context)
    if not yes:
        typer.confirm(f"remove job {office.view(name).name}?", abort=True, err=True)
    definition = office.remove(name, keep_state=keep_state, seconds=timeout)
    _tell(definition, json=json, word="removed")


def _stop(
    context: typer.Context, name: str, mode: Mode, seconds: float | None, *, json: bool
) -> None:
    from penstock.jobs.definition import Definition  # noqa: PLC0415

    office = office_of(context)
    ended = office.stop(name, mode)
    if isinstance(ended, Definition):
        _wait(office, ended.name, seconds)
        _tell(ended, json=json)
        return
    run = _wait(office, name, seconds) or ended
    if json:
        write_json(asdict(run))
        return
    talk(f'job "{name}" was asked to stop' if seconds is None else f'job "{name}" is {run.state}')


def _wait(office: JobOffice, name: str, seconds: float | None) -> Job | None:
    if seconds is None:
        return None
    with waiting(f"waiting for {name} to end"):
        return office.wait_until_ended(name, seconds)


def _tell(definition: Definition, *, json: bool, word: str = "") -> None:
    from penstock.jobs.view import definition_document  # noqa: PLC0415

    if json:
        write_json(definition_document(definition))
        return
    wish = "is to run" if definition.wish == "running" else f"is {definition.wish}"
    talk(f'job "{definition.name}" {f"is {word}" if word else wish}')
