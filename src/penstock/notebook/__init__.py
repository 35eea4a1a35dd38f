"""Penstock in a notebook: `%load_ext penstock.notebook`, or `from penstock.notebook import run`.

This is the one door with something in it, beside the front door: IPython looks here for what it
is to load.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.errors import UsageError
from penstock.notebook.shell import Shell, running_shell

if TYPE_CHECKING:
    from penstock.app import App
    from penstock.notebook.background_job import BackgroundJob

__all__ = ["load_ipython_extension", "run", "unload_ipython_extension"]


def run(app: App, *, rebuild: bool = False) -> BackgroundJob:
    """Run a program in the background; the job of its name that runs is replaced."""
    shell = running_shell()
    if shell is None:
        raise UsageError(
            "NOTEBOOK_MISSING",
            "there is no notebook whose background a job could run in",
            hint="In a program use app.run_here(), app.run() or app.submit().",
        )
    from penstock.notebook.extension import notebook_of  # noqa: PLC0415  # the kernel, polars

    return notebook_of(shell).jobs.run(app, rebuild=rebuild)


def load_ipython_extension(shell: Shell) -> None:
    """Let streams, tables, jobs and answers show themselves, and statements be cells."""
    from penstock.notebook.extension import notebook_of  # noqa: PLC0415  # the kernel, polars

    notebook_of(shell)


def unload_ipython_extension(shell: Shell) -> None:
    """End what runs and updates."""
    from penstock.notebook.extension import notebook_of  # noqa: PLC0415  # the kernel, polars

    notebook_of(shell).end()


if (_shell := running_shell()) is not None:
    load_ipython_extension(_shell)
