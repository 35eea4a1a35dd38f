"""A new project that already runs: statements, a program with its test, a dashboard."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from penstock.config import PROJECT_FILE
from penstock.errors import UsageError

_FOLDER = "template_files"
_NAME = "NAME"
_NAMES = {"gitignore.txt": ".gitignore"}
"""What some files are called in a project; here they must not mean what they mean there."""


def make_project(directory: Path) -> tuple[Path, ...]:
    """Write the files of a new project; a directory that has one of them is refused."""
    if directory.exists() and not directory.is_dir():
        raise UsageError(
            "PROJECT_DIRECTORY",
            f'"{directory}" is no directory',
            hint="Give the name of one, or of one that is to be made.",
        )
    wanted = dict(_files(files("penstock.project") / _FOLDER, Path()))
    there = [place for place in wanted if (directory / place).exists()]
    if there:
        raise UsageError(
            "PROJECT_THERE",
            f'"{directory}" has a file "{_most_telling(there)}" already',
            hint="Give another directory, as in `penstock init shop`; nothing was written.",
        )
    name = directory.absolute().name
    for place, text in wanted.items():
        target = directory / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text.replace(_NAME, name, 1) if place.name == "README.md" else text)
    return tuple(sorted(wanted))


def _files(folder: Traversable, below: Path) -> Iterator[tuple[Path, str]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _files(entry, below / entry.name)
        else:
            name = _NAMES.get(entry.name, entry.name.removesuffix(".txt"))
            yield below / name, entry.read_text(encoding="utf-8")


def _most_telling(there: list[Path]) -> Path:
    project = Path(PROJECT_FILE)
    return project if project in there else min(there)
