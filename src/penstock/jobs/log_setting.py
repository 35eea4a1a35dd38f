"""The line of a project's settings that says which log is its own."""

from __future__ import annotations

import re
from pathlib import Path

from penstock.config import PROJECT_FILE
from penstock.log.embedded.refusals import coded_storage_errors

_LINE = re.compile(r"\s*log\s*=")


def settings_file(directory: Path) -> Path:
    """Give the project's settings, the nearest upwards; where there are none, where they belong."""
    start = directory.absolute()
    candidates = [folder / PROJECT_FILE for folder in (start, *start.parents)]
    return next((file for file in candidates if file.is_file()), candidates[0])


def write_log_setting(file: Path, address: str) -> None:
    """Let a file name a log, at one instant; all else that it says stays."""
    with coded_storage_errors(f'writing "{file}"'):
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        # After the first table a name without one belongs to that table.
        tables = (at for at, line in enumerate(lines) if line.lstrip().startswith("["))
        head = next(tables, len(lines))
        kept = [line for line in lines[:head] if not _LINE.match(line)] + lines[head:]
        fresh = file.with_name(f".{file.name}.new")
        fresh.write_text("\n".join([f'log = "{address}"', *kept]) + "\n", encoding="utf-8")
        fresh.replace(file)
