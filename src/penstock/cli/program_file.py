"""How a command line names a program in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def complete_file(incomplete: str) -> list[str]:
    """Complete the name of a Python file."""
    start = Path(incomplete)
    folder = start if incomplete.endswith("/") else start.parent
    try:
        found = sorted(folder.glob("*"))
    except OSError:
        # There is nobody to tell during completion; the command itself will say what is wrong.
        return []
    shown = [f"{file}/" if file.is_dir() else str(file) for file in found]
    kept = [name for name in shown if name.endswith(("/", ".py"))]
    return [name for name in kept if name.startswith(incomplete.removeprefix("./"))]


ProgramArgument = Annotated[
    str,
    typer.Argument(
        metavar="FILE[:APP]",
        help="A Python file, and the name of the application in it where there are several.",
        autocompletion=complete_file,
    ),
]
