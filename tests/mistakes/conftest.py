from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.cli.shell import Cli
from tests.mistakes.workshop import Workshop


@pytest.fixture
def cli(
    working_directory: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Cli:
    """Runs command lines on a log of the test's own."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    return Cli(capsys, monkeypatch)


@pytest.fixture
def workshop(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workshop]:
    """Makes what a mistake needs."""
    with ExitStack() as open_things:
        yield Workshop(cli, monkeypatch, open_things)
