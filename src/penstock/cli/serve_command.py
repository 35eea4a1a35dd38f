"""`penstock serve`: the API, the pages and the jobs of a home in one process."""

from __future__ import annotations

import contextlib
import ipaddress
import signal
import sys
import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.options import JsonOption, exported_flags, settings_of
from penstock.cli.output import examples, report, talk, write_json, write_line
from penstock.cli.serve_token import register_tokens
from penstock.errors import SetupError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from ssl import SSLContext

    from penstock.jobs.host_file import HostedJob
    from penstock.serve.access.policy import Policy
    from penstock.serve.background_host import BackgroundHost
    from penstock.serve.limits import Limits
    from penstock.serve.platform import Platform

_LOG = "log.jsonl"
_LONG = 3600.0


class LogTo(StrEnum):
    """Where requests are logged."""

    FILE = "file"
    JSON = "json"
    NONE = "none"


def register(application: typer.Typer) -> None:
    """Add the commands of this file."""
    group = typer.Typer(invoke_without_command=True)
    group.callback(
        epilog=examples(
            "penstock serve",
            "penstock serve --port 0 --no-jobs --json",
            "penstock serve token create --role reader --name grafana",
            "penstock serve --host 0.0.0.0 --tls-certificate server.pem --tls-key server.key",
        )
    )(serve)
    register_tokens(group)
    application.add_typer(group, name="serve")


def serve(  # noqa: PLR0913  # each parameter is an option
    context: typer.Context,
    *,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0: any free port.")] = 8080,
    host: Annotated[
        str,
        typer.Option(
            "--host", help="The address to listen at; others than this machine's need a token."
        ),
    ] = "127.0.0.1",
    jobs: Annotated[
        bool, typer.Option("--jobs/--no-jobs", help="Run the jobs of the home, too.")
    ] = True,
    shared: Annotated[
        bool,
        typer.Option("--shared", help="Run queries of SQL over the same streams as one on Spark."),
    ] = False,
    pages: Annotated[bool, typer.Option("--pages/--no-pages", help="Serve the pages.")] = True,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option("--allow-origin", metavar="ORIGIN", help="Let pages of another server ask."),
    ] = None,
    time_limit: Annotated[
        float, typer.Option("--time-limit", min=0.1, help="Seconds until an answer must begin.")
    ] = 60.0,
    body_limit: Annotated[
        int, typer.Option("--body-limit", min=1000, help="Bytes that a request may have.")
    ] = 16 * 1024 * 1024,
    tls_certificate: Annotated[
        Path | None,
        typer.Option(
            "--tls-certificate", metavar="FILE", help="Answer https:// with this certificate."
        ),
    ] = None,
    tls_key: Annotated[
        Path | None,
        typer.Option("--tls-key", metavar="FILE", help="The key of the certificate."),
    ] = None,
    log: Annotated[
        LogTo, typer.Option("--log", help="Log requests to a file of the home, or to stderr.")
    ] = LogTo.FILE,
    json: JsonOption = False,
) -> None:
    """Serve the API and the pages of a home, and run its jobs, until Ctrl-C.

    It answers at once; Spark and the jobs start meanwhile.
    """
    if context.invoked_subcommand is not None:
        return
    home = settings_of(context).home.absolute()
    # A service manager stops what it started by this signal: an end as orderly as by Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    talk("starting")
    from penstock.serve.limits import Limits  # noqa: PLC0415  # FastAPI: 0.5 s
    from penstock.serve.opened import opened_platform  # noqa: PLC0415
    from penstock.serve.server_file import ServerFile  # noqa: PLC0415
    from penstock.serve.watching import watching  # noqa: PLC0415

    policy = _policy(home, host, allow_origin or [])
    tls = _tls(context, (tls_certificate, tls_key))
    if tls is None and not policy.loopback:
        talk("tokens go over the network as they are: --tls-certificate hides them")
    file = ServerFile(home)
    with (
        exported_flags(context),
        file.taken(),
        _logged(home, log),
        opened_platform(home) as platform,
        _answering(
            platform, policy, (host, port), Limits(body_limit, time_limit), pages=pages, tls=tls
        ) as url,
    ):
        file.write(url)
        hosted = _host(platform, shared=shared) if jobs else None
        _show(url, hosted, json=json)
        with watching(home):
            _until_interrupt(hosted)


def _policy(home: Path, host: str, origins: list[str]) -> Policy:
    from penstock.serve.access.policy import LOOPBACK_NAMES, Policy  # noqa: PLC0415
    from penstock.serve.access.token_file import TokenFile  # noqa: PLC0415
    from penstock.sql.server_token import made_token  # noqa: PLC0415

    tokens = TokenFile(home)
    with contextlib.suppress(ValueError):
        if ipaddress.ip_address(host).is_loopback:
            host = "localhost"
    loopback = host in LOOPBACK_NAMES
    if not loopback and not tokens.tokens():
        raise SetupError(
            "SERVER_OPEN",
            f'whoever reaches "{host}" could do everything: this home has no tokens',
            hint="Make one with `penstock serve token create --role admin --name NAME`, or leave"
            " out --host.",
        )
    for origin in origins:
        scheme, found, rest = origin.partition("://")
        if scheme not in {"http", "https"} or not found or not rest or "/" in rest or "*" in rest:
            raise UsageError(
                "ORIGIN_FORM",
                f'"{origin}" is no origin',
                hint="Write it as a browser does: https://pages.example.org, without a path.",
            )
    made_token(home)
    return Policy(tokens, loopback, frozenset(origins))


def _tls(context: typer.Context, given: tuple[Path | None, Path | None]) -> SSLContext | None:
    from penstock.serve.tls import tls_files  # noqa: PLC0415

    files = tls_files(*given, settings_of(context).serve)
    return None if files is None else files.context()


def _logged(home: Path, log: LogTo) -> contextlib.AbstractContextManager[None]:
    from penstock.serve.access.token_file import FOLDER  # noqa: PLC0415
    from penstock.serve.structured_log import written_log  # noqa: PLC0415

    if log is LogTo.NONE:
        return contextlib.nullcontext()
    return written_log(None if log is LogTo.JSON else home / FOLDER / _LOG)


@contextlib.contextmanager
def _answering(
    platform: Platform,
    policy: Policy,
    place: tuple[str, int],
    limits: Limits,
    *,
    pages: bool,
    tls: SSLContext | None,
) -> Iterator[str]:
    from penstock.serve.application import application  # noqa: PLC0415
    from penstock.serve.server import HttpServer  # noqa: PLC0415

    app = application(platform, policy, limits)
    if pages:
        from penstock.serve.pages.site import add_pages  # noqa: PLC0415  # NiceGUI: 1 s

        add_pages(app, platform)
    with HttpServer(app, host=place[0], port=place[1], tls=tls) as server:
        try:
            yield server.url
        finally:
            # Those who follow would keep the server from ending.
            platform.feeds.close()


def _host(platform: Platform, *, shared: bool) -> BackgroundHost | None:
    from penstock.jobs.host_file import host_file  # noqa: PLC0415
    from penstock.serve.background_host import BackgroundHost  # noqa: PLC0415

    view = host_file(platform.home).view()
    if view is not None and view.alive:
        talk(f"process {view.pid} hosts the jobs of this home already; serving without them")
        return None
    found = BackgroundHost(platform.home, shared=shared, told=_tell, refused=report)
    platform.readiness.watch(found.starting)
    found.start()
    return found


def _show(url: str, hosted: BackgroundHost | None, *, json: bool) -> None:
    write_json({"url": url}) if json else write_line(url)
    sys.stdout.flush()
    if hosted is None:
        talk("serving without jobs; Ctrl-C stops")
    else:
        talk("serving; Spark and the jobs are starting. Ctrl-C ends them after their batch")


def _until_interrupt(hosted: BackgroundHost | None) -> None:
    try:
        # Not by an event: a second signal while that is left gives another error.
        while True:
            time.sleep(_LONG)
    except KeyboardInterrupt:
        # Ctrl-C in a terminal reaches whoever started this, too, who then ends it by this signal.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        talk("ending")
    finally:
        if hosted is not None:
            hosted.stop()


def _tell(job: HostedJob) -> None:
    why = f": {job.failure}" if job.failure and job.state in {"waiting", "failed", "busy"} else ""
    # Whoever listened may have left: jobs are not to end by that.
    with contextlib.suppress(OSError):
        talk(f"{job.name} is {job.state}{why}")
