"""`penstock dev`: runs a project, and follows its files while they are edited."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.options import exported_flags, settings_of
from penstock.cli.output import examples, report, talk, write_line
from penstock.cli.plan_command import DirectoryArgument
from penstock.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.project.following import Followed

_PATIENCE = 30.0
_LOOK = 0.3
_PORT = 8080


def register(application: typer.Typer) -> None:
    """Add the command of this file."""
    application.command(
        "dev", epilog=examples("penstock dev", "penstock dev shop --port 0 --no-server")
    )(dev)


def dev(
    context: typer.Context,
    directory: DirectoryArgument = Path(),
    *,
    server: Annotated[
        bool, typer.Option("--server/--no-server", help="Serve the API and the pages.")
    ] = True,
    jobs: Annotated[bool, typer.Option("--jobs/--no-jobs", help="Run the jobs.")] = True,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Of the pages; 0: any free one.")
    ] = _PORT,
) -> None:
    """Run a project until Ctrl-C; whenever a file is saved, what runs becomes what it says.

    What a file says wrongly is told, with its line, and what ran before goes on. Jobs that are
    gone from the project are removed; their topics stay.
    """
    if not directory.is_dir():
        raise UsageError(
            "PROJECT_DIRECTORY",
            f'"{directory}" is no directory',
            hint="Make a project with `penstock init DIRECTORY`.",
        )
    stopping = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopping.set())
    from penstock.jobs.takeover import Rebuild  # noqa: PLC0415  # Spark's modules
    from penstock.project.following import Following  # noqa: PLC0415

    home = settings_of(context, directory.absolute()).home
    following = Following(directory, home, how=Rebuild(say=talk))
    with exported_flags(context):
        _tell(following.apply(), "the project is as it was")
        command = _command(home, port, server=server, jobs=jobs)
        with _Running(command, directory) as running:
            talk(f"following the files of {directory.absolute()}; Ctrl-C ends it")
            for followed in following.follow(_ended(stopping, running)):
                write_line(f"saved: {', '.join(followed.files)}")
                _tell(followed, "nothing to be changed")
                if followed.settings_changed:
                    running.restart()


def _tell(followed: Followed, nothing: str) -> None:
    for line in followed.done:
        write_line(line)
    if followed.refusal is not None:
        report(followed.refusal)
    elif not followed.done:
        write_line(nothing)
    sys.stdout.flush()


def _command(home: Path, port: int, *, server: bool, jobs: bool) -> Sequence[str]:
    """Give what runs the project beside this process; nothing where neither is asked for."""
    start = [sys.executable, "-m", "penstock"]
    if server:
        words = ["serve", "--port", str(port), *([] if jobs else ["--no-jobs"])]
        return [*start, *words, f"--home={home}"]
    return [*start, "host", f"--home={home}"] if jobs else []


class _Running:
    """The process that runs the project, for the length of a with block."""

    def __init__(self, command: Sequence[str], directory: Path) -> None:
        self._command = command
        self._directory = directory
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> _Running:
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    @property
    def ended(self) -> bool:
        """Whether it has ended by itself; it has said why."""
        return self._process is not None and self._process.poll() is not None

    def restart(self) -> None:
        """Let it read the settings again."""
        if self._process is not None:
            talk("the settings have changed: it starts again")
            self._stop()
            self._start()

    def _start(self) -> None:
        if self._command:
            self._process = subprocess.Popen(self._command, cwd=self._directory)  # noqa: S603  # ourselves

    def _stop(self) -> None:
        if self._process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _ended(stopping: threading.Event, running: _Running) -> threading.Event:
    """Let following end as soon as what runs the project has ended by itself."""

    def look() -> None:
        while not stopping.wait(_LOOK):
            if running.ended:
                stopping.set()

    threading.Thread(target=look, daemon=True).start()
    return stopping
