"""Looks at the house from outside: its files, its modules, its errors."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from penstock import errors

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "penstock"


class Raised(NamedTuple):
    """An error made somewhere: its code, or None where that is not a literal, and its fact."""

    code: str | None
    fact: str
    place: str


def modules(folder: Path = SOURCE) -> list[Path]:
    """The Python files below a folder, in order."""
    return sorted(folder.rglob("*.py"))


def tracked_files() -> list[Path]:
    """The files that git has, or would take."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is no git clone, so nothing is tracked")
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        capture_output=True,
        check=True,
        text=True,
    )
    files = (ROOT / name for name in listed.stdout.split("\0") if name)
    return sorted(file for file in files if file.is_file())


def error_names() -> set[str]:
    """The names of all our error classes."""
    return {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, errors.PenstockError)
    }


@cache
def imports(file: Path) -> tuple[ast.Import | ast.ImportFrom, ...]:
    """What a file imports, at the top or inside."""
    return tuple(node for node in _noted(file) if not isinstance(node, ast.Call))


@cache
def _noted(file: Path) -> tuple[ast.Import | ast.ImportFrom | ast.Call, ...]:
    """What tests ask for of a file, so that it is read once: its imports, its errors."""
    names = {*error_names(), "Problem"}
    return tuple(
        node
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Import | ast.ImportFrom)
        or (isinstance(node, ast.Call) and _name(node.func) in names)
    )


def raised(files: Iterable[Path]) -> Iterator[Raised]:
    """Every place that makes one of our errors."""
    for file in files:
        before = dict.fromkeys(error_names(), 0)
        if "serve" in file.parts:
            # A problem of the server says its status first.
            before["Problem"] = 1
        for node in _noted(file):
            if isinstance(node, ast.Call) and (skipped := before.get(_name(node.func))) is not None:
                code, fact = [*map(_text, node.args[skipped : skipped + 2]), "", ""][:2]
                yield Raised(code or None, fact, f"{file.name}:{node.lineno}")


def table(document: Path) -> list[tuple[str, ...]]:
    """The rows of a document's tables, without their heads."""
    lines = [line.strip() for line in document.read_text().splitlines()]
    rows = [line for line in lines if line.startswith("|")]
    heads = {i - 1 for i, row in enumerate(rows) if set(row) <= set("|-: ")} | {
        i for i, row in enumerate(rows) if set(row) <= set("|-: ")
    }
    return [
        tuple(cell.strip() for cell in row.strip("|").split("|"))
        for i, row in enumerate(rows)
        if i not in heads
    ]


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _text(node: ast.expr) -> str:
    """The words of a literal, with `{}` for what is filled in; nothing for anything else."""
    if isinstance(node, ast.JoinedStr):
        return "".join(
            _text(part) if isinstance(part, ast.Constant) else "{}" for part in node.values
        )
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
