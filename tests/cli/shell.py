"""Running `penstock`: within the test's process, or as a user's shell does."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from typing import Any, NamedTuple

import pytest

from penstock.cli.main import run


class Ran(NamedTuple):
    """What a command printed and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:  # noqa: ANN401  # whatever the command printed
        return json.loads(self.out)

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


class Cli:
    """Runs command lines in this process; the log is below the working directory."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capsys = capsys
        self._monkeypatch = monkeypatch

    def __call__(self, *words: str, stdin: bytes = b"") -> Ran:
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        self._capsys.readouterr()
        code = run(words)
        captured = self._capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    def ok(self, *words: str, stdin: bytes = b"") -> Ran:
        ran = self(*words, stdin=stdin)
        assert ran.code == 0, ran
        return ran


def shell(script: str) -> subprocess.CompletedProcess[str]:
    """Run a shell script in which `penstock` is this Penstock."""
    return subprocess.run(
        ["bash", "-c", f"{penstock_function()}\n{script}"],
        capture_output=True,
        check=False,
        text=True,
        timeout=110,
    )


def penstock_function() -> str:
    return f'penstock() {{ "{sys.executable}" -m penstock "$@"; }}'


def start(*words: str) -> subprocess.Popen[str]:
    """Start `penstock` and let it run."""
    return subprocess.Popen(
        [sys.executable, "-m", "penstock", *words],
        env=os.environ | {"PYTHONUNBUFFERED": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
