"""`penstock sql`: statements on the log, from a shell, the command line, files or a project."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.options import JsonOption, exported_flags, settings_of
from penstock.cli.output import examples, report, talk, write_json, write_line, write_table
from penstock.cli.sql_answer import write_answer
from penstock.cli.sql_shell import line_editing, run_shell, tell_failures
from penstock.errors import PenstockError, UsageError

if TYPE_CHECKING:
    from penstock.front.sql.statement import Started
    from penstock.sql.answering import Answering
    from penstock.sql.session import SqlSession
    from penstock.sql.sharing import Sharing

_WRONG, _DRIFT = 1, 2
_FOLLOWED = 1.0
"""Seconds between two looks at the queries that a server runs."""


class Action(StrEnum):
    """What can be done with a whole project or catalog."""

    PLAN = "plan"
    APPLY = "apply"
    RUN = "run"
    SERVE = "serve"


def register(application: typer.Typer) -> None:
    """Add the command of this file."""
    application.command(
        "sql",
        epilog=examples(
            "penstock sql",
            "penstock sql -e 'SHOW STREAMS;' --json",
            "penstock sql -f shop.sql --here",
            "penstock sql --check shop.sql",
            "penstock sql plan queries/",
            "penstock sql apply queries/",
            "penstock sql run",
            "penstock sql run --here --bounded",
            "penstock sql run --shared",
            "penstock sql serve --port 8088",
            "penstock sql --server http://127.0.0.1:8088",
        ),
    )(sql)


def sql(  # noqa: PLR0913  # each parameter is an option
    context: typer.Context,
    action: Annotated[
        Action | None,
        typer.Argument(help="A project against the catalog; or run the catalog's queries."),
    ] = None,
    directory: Annotated[
        Path | None,
        typer.Argument(metavar="DIRECTORY", help="Where the .sql files of a project are."),
    ] = None,
    *,
    statements: Annotated[
        list[str] | None,
        typer.Option("-e", "--execute", metavar="SQL", help="Run these statements and end."),
    ] = None,
    file: Annotated[
        Path | None, typer.Option("-f", "--file", help="Run the statements of a file and end.")
    ] = None,
    check: Annotated[
        Path | None,
        typer.Option("--check", metavar="FILE", help="Read and resolve a file, and run nothing."),
    ] = None,
    here: Annotated[
        bool | None,
        typer.Option(
            "--here/--not-here",
            help="Let the catalog's queries run in this process, not on Spark; a shell does.",
            show_default=False,
        ),
    ] = None,
    bounded: Annotated[
        bool, typer.Option("--bounded", help="Let `run` take what there is now, and end.")
    ] = False,
    shared: Annotated[
        bool,
        typer.Option(
            "--shared", help="Let `run` run queries over the same streams as one on Spark."
        ),
    ] = False,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Where `serve` answers; 0: any.")
    ] = 8088,
    json: JsonOption = False,
) -> None:
    """Run SQL statements: without any, a shell asks for them.

    `run` runs the catalog's queries; `serve` does so too, and answers statements over HTTP.
    """
    if (action in {Action.PLAN, Action.APPLY}) != (directory is not None):
        raise UsageError(
            "SQL_ACTION",
            f'"{action or "sql"}" is given {"no" if directory is None else "a"} directory',
            hint="Write it as `penstock sql plan DIRECTORY` or `penstock sql apply DIRECTORY`.",
        )
    home = settings_of(context).home
    asks = not (action or statements or file or check) and sys.stdin.isatty()
    server = settings_of(context).server
    if server and action is not Action.SERVE:
        _refuse_at_server(action, check)
        from penstock.log.remote.server_token import token_for  # noqa: PLC0415
        from penstock.sql.remote_session import RemoteSession  # noqa: PLC0415

        settings = settings_of(context)
        token = token_for(settings, os.environ, server)
        with RemoteSession(server, home, token=token, ca_file=settings.ca_file) as remote:
            _answer(remote, statements or [], file, home, (asks, json))
        return
    from penstock.sql.session import SqlSession  # noqa: PLC0415  # the grammar, the log: 0.4 s

    if action is Action.SERVE:
        with SqlSession(home, here=here is not False) as session:
            _serve(session, home, port, json=json)
        return
    runs = asks if here is None else here
    with exported_flags(context), SqlSession(home, here=runs) as session:
        if check is not None:
            _check(session, check, json=json)
        elif action is not None:
            _act(session, action, directory, home, (runs, bounded, json, shared))
        else:
            _answer(session, statements or [], file, home, (asks, json))


def _answer(
    session: Answering,
    statements: list[str],
    file: Path | None,
    home: Path,
    options: tuple[bool, bool],
) -> None:
    asks, json = options
    if statements or file is not None:
        _script(session, statements, file, json=json)
    elif asks:
        with line_editing(session, home) as remember:
            run_shell(session, json=json, remember=remember)
    else:
        _run(session, sys.stdin.read(), json=json)


def _refuse_at_server(action: Action | None, check: Path | None) -> None:
    if action is not None or check is not None:
        raise UsageError(
            "SQL_ACTION",
            f'"{action or "--check"}" works on a log, not at a server',
            hint="Leave out --server.",
        )


def _serve(session: SqlSession, home: Path, port: int, *, json: bool) -> None:
    from penstock.serve.server import HttpServer  # noqa: PLC0415  # FastAPI: 0.5 s
    from penstock.serve.sql_api import sql_app  # noqa: PLC0415
    from penstock.sql.server_token import made_token  # noqa: PLC0415

    # A service manager stops what it started by this signal: an end as orderly as by Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    told: dict[str, str] = {}
    turn = threading.Lock()
    with HttpServer(sql_app(session, made_token(home), turn), port=port) as server:
        if json:
            write_json({"url": server.url})
        else:
            write_line(server.url)
        sys.stdout.flush()
        talk("answering and running the catalog's queries; Ctrl-C stops")
        while True:
            with turn:
                tell_failures(session, told)
            time.sleep(_FOLLOWED)


def _script(session: Answering, statements: list[str], file: Path | None, *, json: bool) -> None:
    from penstock.sql.script import script_text  # noqa: PLC0415

    for text in statements:
        _run(session, text, json=json)
    if file is None:
        return
    text = script_text(file)
    try:
        _run(session, text, json=json)
    except PenstockError as error:
        error.fact = f"{file}: {error.fact}"
        raise


def _run(session: Answering, text: str, *, json: bool) -> None:
    for answer in session.run(text):
        write_answer(answer, json=json)
    session.catch_up()


def _check(session: SqlSession, file: Path, *, json: bool) -> None:
    from penstock.sql.checking import check  # noqa: PLC0415
    from penstock.sql.script import script_text  # noqa: PLC0415

    problems = check(script_text(file), session.definitions())
    if json:
        told = [{"code": it.code, "fact": it.fact, "hint": it.hint} for it in problems]
        write_json({"file": str(file), "problems": told})
    else:
        for problem in problems:
            problem.fact = f"{file}: {problem.fact}"
            report(problem)
    if problems:
        raise typer.Exit(_WRONG)


def _act(
    session: SqlSession,
    action: Action,
    directory: Path | None,
    home: Path,
    options: tuple[bool, bool, bool, bool],
) -> None:
    here, bounded, json, shared = options
    if directory is None:
        _refuse_sharing(here=here, bounded=bounded, shared=shared)
        _run_queries(session, home, here=here, bounded=bounded, shared=shared)
        return
    from penstock.sql.project import steps_to  # noqa: PLC0415

    steps = steps_to(directory, session.definitions())
    due = [step for step in steps if step.changes]
    done = [told.words for told in session.apply(due)] if action is Action.APPLY else []
    if json:
        told = [{"does": step.does, "what": step.key, "statement": step.text} for step in steps]
        write_json({"steps": told, "done": done})
    elif action is Action.APPLY:
        write_line("\n".join(done) or "nothing to be changed")
    else:
        rows = [(step.does, step.key, " ".join(step.text.split())) for step in steps]
        write_table(("does", "what", "statement"), rows)
    if due and action is Action.PLAN:
        raise typer.Exit(_DRIFT)


def _refuse_sharing(*, here: bool, bounded: bool, shared: bool) -> None:
    if shared and (here or bounded):
        raise UsageError(
            "SQL_SHARED",
            f'"--shared" is given with "{"--here" if here else "--bounded"}"',
            hint="Queries share a query of Spark that runs on: leave out one of them.",
        )


def _run_queries(
    session: SqlSession, home: Path, *, here: bool, bounded: bool, shared: bool
) -> None:
    def wanted() -> tuple[Started, ...]:
        return session.definitions().runnable

    if not wanted():
        write_line("the catalog has no queries to be run")
    elif here and bounded:
        session.catch_up()
    elif here:
        from penstock.sql.running import run_here  # noqa: PLC0415

        talk(f"running {', '.join(query.id for query in wanted())}; Ctrl-C ends")
        run_here(home, wanted)
    else:
        from penstock.sql.spark_jobs import catch_up_on_spark, run_on_spark  # noqa: PLC0415

        if bounded:
            catch_up_on_spark(home, wanted())
            return
        talk(f"running {', '.join(query.id for query in wanted())} on Spark; Ctrl-C ends")
        run_on_spark(home, wanted, sharing=_sharing(session, home) if shared else None)


def _sharing(session: SqlSession, home: Path) -> Sharing:
    from penstock.sql.sharing import Sharing  # noqa: PLC0415

    return Sharing(home, goes_on=lambda id_: id_ in session.definitions().queries)
