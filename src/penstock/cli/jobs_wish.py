"""`penstock jobs pause`, `resume`, `start`, `stop`, `cancel`, `remove`: what is wished of a job."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.job_argument import JobArgument, TimeoutOption, WaitOption, home_of
from penstock.cli.options import JsonOption
from penstock.cli.output import examples, talk, waiting, write_json

if TYPE_CHECKING:
    from pathlib import Path

    from penstock.jobs.definition import Definition
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
    from penstock.jobs import control  # noqa: PLC0415
    from penstock.jobs.named import require_defined  # noqa: PLC0415

    home = home_of(context)
    definition = control.pause(home, require_defined(home, name).name)
    _wait(home, definition, timeout if wait else None)
    _tell(definition, json=json)


def resume(context: typer.Context, name: JobArgument, json: JsonOption = False) -> None:
    """Let a paused job go on where it is."""
    from penstock.jobs import control  # noqa: PLC0415
    from penstock.jobs.named import require_defined  # noqa: PLC0415

    home = home_of(context)
    definition = control.resume(home, require_defined(home, name).name)
    _tell(definition, json=json)
    tell_of_host(home)


def start(context: typer.Context, name: JobArgument, json: JsonOption = False) -> None:
    """Let a job run that was stopped or paused, or that failed too often."""
    from penstock.jobs import control  # noqa: PLC0415
    from penstock.jobs.named import require_defined  # noqa: PLC0415

    home = home_of(context)
    definition = control.start(home, require_defined(home, name).name)
    _tell(definition, json=json)
    tell_of_host(home)


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
    from penstock.jobs import control  # noqa: PLC0415
    from penstock.jobs.named import require_defined  # noqa: PLC0415

    home = home_of(context)
    definition = require_defined(home, name)
    if not yes:
        typer.confirm(f"remove job {definition.name}?", abort=True, err=True)
    control.remove(home, definition.name, keep_state=keep_state, seconds=timeout)
    _tell(definition, json=json, word="removed")


def tell_of_host(home: Path) -> None:
    """Say it where nobody is there to run a job."""
    from penstock.jobs.host_file import host_file  # noqa: PLC0415

    view = host_file(home).view()
    if view is None or not view.alive:
        talk("no host runs the jobs of this home now; start one with: penstock host")


def _stop(
    context: typer.Context, name: str, mode: Mode, seconds: float | None, *, json: bool
) -> None:
    from penstock.jobs import control  # noqa: PLC0415
    from penstock.jobs.named import named  # noqa: PLC0415

    home = home_of(context)
    definition = named(home, name).definition
    if definition is None:
        _stop_run(home, name, mode, seconds, json=json)
        return
    definition = control.stop(home, definition.name, mode=mode)
    _wait(home, definition, seconds)
    _tell(definition, json=json)


def _stop_run(home: Path, name: str, mode: Mode, seconds: float | None, *, json: bool) -> None:
    from penstock.jobs.stop import ask_to_stop, wait_for_end  # noqa: PLC0415
    from penstock.jobs.store import job_store  # noqa: PLC0415

    store = job_store(home)
    run = ask_to_stop(store, name, mode)
    if seconds is not None:
        with waiting(f"waiting for {name} to end"):
            run = wait_for_end(store, name, seconds)
    if json:
        write_json(asdict(run))
        return
    talk(f'job "{name}" was asked to stop' if seconds is None else f'job "{name}" is {run.state}')


def _wait(home: Path, definition: Definition, seconds: float | None) -> None:
    from penstock.jobs.control import wait_until_ended  # noqa: PLC0415

    if seconds is not None:
        with waiting(f"waiting for {definition.name} to end"):
            wait_until_ended(home, definition.name, seconds)


def _tell(definition: Definition, *, json: bool, word: str = "") -> None:
    from penstock.jobs.view import definition_document  # noqa: PLC0415

    if json:
        write_json(definition_document(definition))
        return
    wish = "is to run" if definition.wish == "running" else f"is {definition.wish}"
    talk(f'job "{definition.name}" {f"is {word}" if word else wish}')
