from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.house.survey import ROOT, SOURCE, imports, modules

LINT = Path(sys.executable).parent / "lint-imports"
PACKAGES = {"google": "protobuf", "yaml": "pyyaml"}
"""Packages that are imported by another name than they are installed by."""


@pytest.mark.slow  # `make lint` asks for the same, before either kind of tests
def test_the_rooms_keep_their_contracts() -> None:
    done = subprocess.run(
        [LINT, "--no-cache"], cwd=ROOT, capture_output=True, check=False, text=True
    )
    assert done.returncode == 0, done.stdout


def test_no_contract_has_exceptions() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    contracts = text[text.index("[tool.importlinter]") :]
    assert "ignore_imports" not in contracts
    assert "exhaustive = true" in contracts


def test_only_the_spark_room_names_pyspark() -> None:
    # The linter sees imports; this sees a name in a string as well.
    naming = {
        file.relative_to(SOURCE).parts[0]
        for file in SOURCE.rglob("*.py")
        if "import pyspark" in file.read_text() or "from pyspark" in file.read_text()
    }
    assert naming == {"spark"}


def test_everything_imported_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    lines = [*project["dependencies"], *(line for extra in extras for line in extra)]
    declared = {re.split(r"[<>=!~\[ ]", line)[0].replace("-", "_") for line in lines}
    found = {PACKAGES.get(name, name) for name in imported(modules())}
    assert found - declared - {"penstock"} == set()


def test_an_import_inside_a_function_counts(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("import os, yaml.x\ndef f():\n    from rich.table import Table\n")
    assert imported([file]) == {"rich", "yaml"}


def imported(files: list[Path]) -> set[str]:
    """The packages that files import, at the top or inside, without Python's own."""
    names: set[str] = set()
    for file in files:
        for node in imports(file):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif node.module:
                names.add(node.module)
    # py4j is Spark's own bridge to Java and comes with it.
    return {name.partition(".")[0] for name in names} - sys.stdlib_module_names - {"py4j"}
