from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.shell import Cli


@pytest.fixture
def cli(
    working_directory: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Cli:
    """Runs command lines on a log of the test's own."""
    return Cli(capsys, monkeypatch)
