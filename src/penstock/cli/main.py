"""The `penstock` command: finds the command asked for, and turns what goes wrong into words.

Exit codes: 0 done, 1 failed, 2 the command line was wrong, 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Annotated, Literal

import typer

import penstock
from penstock.cli.interrupts import repeat_swallowed_interrupts
from penstock.cli.output import examples, report, write_line
from penstock.config import (
    BROKER_JARS,
    CA_FILE,
    DEBUG,
    DRIVER_MEMORY,
    HOME,
    KEYS,
    LOG,
    MASTER,
    REGISTRY_URL,
    SERVER,
    STATE_DATABASE,
    STATE_STORE,
    TOKEN_FILE,
    load_settings,
)
from penstock.errors import PenstockError, UsageError

# One file a command group; each has `register(application)` and keeps heavy imports inside its
# commands. Only the file of the command asked for is loaded.
COMMANDS = {
    "init": "penstock.cli.init_command",
    "dev": "penstock.cli.dev_command",
    "run": "penstock.cli.run_command",
    "explain": "penstock.cli.explain_command",
    "sql": "penstock.cli.sql_command",
    "query": "penstock.cli.query_command",
    "import": "penstock.cli.import_command",
    "jobs": "penstock.cli.jobs_command",
    "plan": "penstock.cli.plan_command",
    "apply": "penstock.cli.apply_command",
    "rollback": "penstock.cli.rollback_command",
    "host": "penstock.cli.host_command",
    "serve": "penstock.cli.serve_command",
    "topics": "penstock.cli.topics_command",
    "schemas": "penstock.cli.schemas_command",
    "produce": "penstock.cli.produce_command",
    "consume": "penstock.cli.consume_command",
    "registry": "penstock.cli.registry_command",
    "groups": "penstock.cli.groups_command",
    "dlq": "penstock.cli.dlq_command",
    "transactions": "penstock.cli.transactions_command",
    "log": "penstock.cli.log_command",
    "mirror": "penstock.cli.mirror_command",
    "migrate": "penstock.cli.migrate_command",
    "alerts": "penstock.cli.alerts_command",
    "metrics": "penstock.cli.metrics_command",
    "lineage": "penstock.cli.lineage_command",
    "config": "penstock.cli.config_command",
    "doctor": "penstock.cli.doctor_command",
    "package": "penstock.cli.package_command",
    "compare": "penstock.cli.compare_command",
    "kafka": "penstock.cli.kafka_command",
}

AT_SERVER = frozenset(
    {
        "topics", "produce", "consume", "groups", "sql", "jobs", "schemas", "alerts", "dlq",
        "metrics", "lineage", "config", "doctor", "query", "compare",
    }
)  # fmt: skip
"""What can be asked of a server, or does not depend on where one works."""
FAILED, MISUSED, INTERRUPTED = 1, 2, 130


def main() -> None:
    """Run the command line of this process."""
    repeat_swallowed_interrupts()
    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has left, as `head` does. Python would complain once more while it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = code or FAILED
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run one command line and give its exit code."""
    try:
        flags, words = split_flags(arguments)
        _refuse_at_server(flags, words)
        application(words)(args=[*flags, *words], prog_name="penstock")
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(bool(stop.code))
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001  # the last place where anything can be said
        return _explain(error, arguments)
    return 0


def application(words: Sequence[str] = ()) -> typer.Typer:
    """Build the command that the words begin with, or all of them where that is not clear."""
    # A terminal gets rich's boxes; a pipe gets plain text, and three times faster.
    mode: Literal["rich"] | None = "rich" if sys.stdout.isatty() else None
    app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=mode)
    app.callback(
        epilog=examples(
            "penstock topics create avg --partitions 1",
            "penstock produce avg",
            "penstock consume avg --from-beginning",
            "penstock doctor",
        )
    )(_penstock)
    for name in words[:1] if words and words[0] in COMMANDS else COMMANDS:
        import_module(COMMANDS[name]).register(app)
    return app


def split_flags(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Part the flags that every command knows, which may stand anywhere, from the other words."""
    # Commands name a log by --home or --server; --log is where some of them write theirs.
    takes_value = {key.flag: key is not DEBUG for key in KEYS if key is not LOG}
    flags: list[str] = []
    words: list[str] = []
    left = iter(arguments)
    for word in left:
        if word == "--":
            words.extend([word, *left])
        elif word.partition("=")[0] not in takes_value:
            words.append(word)
        elif takes_value.get(word):
            flags.append(f"{word}={_value(word, left)}")
        else:
            flags.append(word)
    return flags, words


def _refuse_at_server(flags: Sequence[str], words: Sequence[str]) -> None:
    """Refuse what only works on a home; a server that a settings file names is not meant by it."""
    given = any(flag.startswith(f"{SERVER.flag}=") for flag in flags)
    said = given or bool(os.environ.get(SERVER.variable))
    if said and words and words[0] in COMMANDS and words[0] not in AT_SERVER:
        where = SERVER.flag if given else SERVER.variable
        raise UsageError(
            "SERVER_COMMAND",
            f"`penstock {words[0]}` works on a home itself, and cannot be asked of a server",
            hint=f"Leave out {where}, and name the directory with --home.",
        )


def _value(flag: str, left: Iterator[str]) -> str:
    value = next(left, None)
    if value is None:
        raise UsageError(
            "FLAG_VALUE", f'flag "{flag}" has no value', hint=f"Write it as {flag}=VALUE."
        )
    return value


def _penstock(  # noqa: PLR0913, PLR0917  # each parameter is a flag
    home: Annotated[
        str | None, typer.Option(HOME.flag, metavar="DIRECTORY", help=HOME.meaning)
    ] = None,
    master: Annotated[
        str | None, typer.Option(MASTER.flag, metavar="MASTER", help=MASTER.meaning)
    ] = None,
    driver_memory: Annotated[
        str | None, typer.Option(DRIVER_MEMORY.flag, metavar="SIZE", help=DRIVER_MEMORY.meaning)
    ] = None,
    store: Annotated[
        str | None, typer.Option(STATE_STORE.flag, metavar="STORE", help=STATE_STORE.meaning)
    ] = None,
    database: Annotated[
        str | None,
        typer.Option(STATE_DATABASE.flag, metavar="PLACE", help=STATE_DATABASE.meaning),
    ] = None,
    url: Annotated[
        str | None, typer.Option(REGISTRY_URL.flag, metavar="URL", help=REGISTRY_URL.meaning)
    ] = None,
    server: Annotated[
        str | None, typer.Option(SERVER.flag, metavar="URL", help=SERVER.meaning)
    ] = None,
    token_file: Annotated[
        str | None, typer.Option(TOKEN_FILE.flag, metavar="FILE", help=TOKEN_FILE.meaning)
    ] = None,
    ca_file: Annotated[
        str | None, typer.Option(CA_FILE.flag, metavar="FILE", help=CA_FILE.meaning)
    ] = None,
    broker_jars: Annotated[
        str | None, typer.Option(BROKER_JARS.flag, metavar="FOLDER", help=BROKER_JARS.meaning)
    ] = None,
    debug: Annotated[bool, typer.Option(DEBUG.flag, help=DEBUG.meaning)] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_show_version)
    ] = False,
) -> None:
    """A durable log, and stream processing on it with Spark."""


def _explain(error: Exception, arguments: Sequence[str]) -> int:
    if _wants_traceback(arguments):
        traceback.print_exception(error)
    if not isinstance(error, PenstockError):
        # A Java exception carries its stack in its text: the first line is what happened.
        first = next(iter(str(error).splitlines()), "")
        error = PenstockError(
            "UNEXPECTED",
            f"{type(error).__name__}: {first}",
            hint="This is a defect of Penstock; --debug shows where it happened.",
        )
    report(error)
    return MISUSED if isinstance(error, UsageError) else FAILED


def _wants_traceback(arguments: Sequence[str]) -> bool:
    if DEBUG.flag in arguments:
        return True
    try:
        return load_settings().debug
    except PenstockError:
        return bool(os.environ.get(DEBUG.variable))


def _show_version(wanted: bool) -> None:  # noqa: FBT001  # typer calls it with the flag's value
    if wanted:
        write_line(f"penstock {penstock.__version__}")
        raise typer.Exit
