from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.house.survey import ROOT, SOURCE

LINT = Path(sys.executable).parent / "lint-imports"


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
