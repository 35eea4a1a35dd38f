"""Changes between schemas on the terminal."""

from __future__ import annotations

from penstock.cli.output import write_line
from penstock.schema.change import Change


def write_changes(changes: list[Change]) -> None:
    """Print changes, one a line."""
    for change in changes:
        write_line(change.sentence)
