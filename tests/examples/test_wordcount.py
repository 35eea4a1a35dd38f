from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.slow


def test_the_word_count_goes_on_where_it_stopped(tmp_path: Path) -> None:
    settings = {"PENSTOCK_WORDCOUNT_SECONDS": "4", "TMPDIR": str(tmp_path)}
    ran = subprocess.run(
        [sys.executable, "-m", "examples.wordcount"],
        cwd=PROJECT,
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    lines = [line.strip() for line in ran.stdout.splitlines()]
    kafka = [line for line in lines if line.startswith(("kafka ", "store "))]
    assert kafka == [
        "kafka 1",
        "kafka 2",
        "kafka 3",
        "store Counts: kafka 3",
        "kafka 4",
        "store Counts: kafka 4",
    ]
    assert ran.stderr == ""
