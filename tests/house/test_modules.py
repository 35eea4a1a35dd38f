from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.house.survey import ROOT, SOURCE, imports, modules

LONGEST = 400
NOT_CONCEPTS = {"base", "common", "core", "helpers", "manager", "misc", "shared", "util", "utils"}


def too_long(files: list[Path]) -> list[str]:
    lengths = {file: len(file.read_text().splitlines()) for file in files}
    return [f"{file}: {length}" for file, length in lengths.items() if length > LONGEST]


def vaguely_named(files: list[Path]) -> list[str]:
    return [
        str(file) for file in files if NOT_CONCEPTS & {file.stem, file.parent.name, *_words(file)}
    ]


def with_relative_imports(files: list[Path]) -> list[str]:
    return [
        f"{file}:{node.lineno}"
        for file in files
        for node in imports(file)
        if isinstance(node, ast.ImportFrom) and node.level
    ]


def _words(file: Path) -> list[str]:
    return file.stem.split("_")


def test_no_module_is_longer_than_a_sitting() -> None:
    assert too_long(modules()) == []


def test_every_module_is_named_after_a_concept() -> None:
    assert vaguely_named(modules()) == []


def test_rooms_have_empty_doors() -> None:
    doors = [file for file in modules() if file.name == "__init__.py"]
    assert len(doors) > 3
    # IPython looks into the door of a room for what it is to load.
    furnished = {SOURCE, SOURCE / "notebook"}
    assert [str(d) for d in doors if d.read_text() and d.parent not in furnished] == []


def test_every_package_has_a_door() -> None:
    folders = {file.parent for file in modules()}
    assert [str(f) for f in folders if not (f / "__init__.py").exists()] == []


def test_imports_are_absolute() -> None:
    assert with_relative_imports(modules()) == []


def test_nobody_inside_imports_the_front_door() -> None:
    front = [
        f"{file}:{node.lineno}"
        for file in modules()
        for node in imports(file)
        if isinstance(node, ast.ImportFrom) and node.module == "penstock"
    ]
    assert front == []


def test_the_types_are_shipped() -> None:
    assert (SOURCE / "py.typed").exists()


@pytest.mark.parametrize("folder", ["src", "tests"])
def test_no_commented_out_import_or_leftover_mark(folder: str) -> None:
    marks = ("TO" + "DO", "FIX" + "ME", "XX" + "X:")
    left = [
        f"{file}:{number}"
        for file in modules(ROOT / folder)
        for number, line in enumerate(file.read_text().splitlines(), start=1)
        if any(mark in line for mark in marks)
    ]
    assert left == []


def test_the_measures_find_what_they_forbid(tmp_path: Path) -> None:
    long = tmp_path / "long.py"
    long.write_text("x = 1\n" * (LONGEST + 1))
    vague = tmp_path / "string_utils.py"
    vague.write_text("from . import long\n")
    assert too_long([long, vague]) == [f"{long}: {LONGEST + 1}"]
    assert vaguely_named([long, vague]) == [str(vague)]
    assert with_relative_imports([long, vague]) == [f"{vague}:1"]
