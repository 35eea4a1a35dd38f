"""A program on its way to a server: its file, and the modules beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from penstock.errors import UsageError

_MOST_FILES = 200


def program_files(program: str) -> dict[str, Any]:
    """Give the files of a program `FILE[:APP]`: it, and the Python files of its folder."""
    place, colon, app = program.partition(":")
    main = Path(place)
    try:
        files = {main.name: main.read_text(encoding="utf-8")}
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            "PROGRAM_MISSING",
            f'file "{place}" cannot be read: {type(error).__name__}',
            hint="Give a Python file that holds a program.",
        ) from error
    for file in sorted(main.parent.glob("*.py"))[:_MOST_FILES]:
        if file.name not in files and len(files) < _MOST_FILES:
            files[file.name] = file.read_text(encoding="utf-8", errors="replace")
    return {"files": files, "program": f"{main.name}{colon}{app}"}
