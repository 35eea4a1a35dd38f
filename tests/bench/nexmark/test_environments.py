from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bench.nexmark import environments
from bench.nexmark.environments import ENVIRONMENTS, python_of


class Machine:
    """Stands for venv, pip and Ivy: does what they would, and remembers the commands."""

    def __init__(self, fails_at: str = "") -> None:
        self.commands: list[list[str]] = []
        self._fails_at = fails_at

    def __call__(self, command: list[str], **_: object) -> None:
        self.commands.append(command)
        if self._fails_at and self._fails_at in command:
            raise subprocess.CalledProcessError(
                1, command, stderr="Looking\nERROR: No matching distribution found for it\nbye\n"
            )
        if "venv" in command:
            self._packages = Path(command[-1]) / "lib" / "python3.11" / "site-packages"
            self._packages.mkdir(parents=True)
        elif "pip" in command:
            for package in command[command.index("--quiet") + 1 :]:
                name = package.replace("-", "_").replace("==", "-")
                (self._packages / f"{name}.dist-info").mkdir()
            (self._packages / "pyflink" / "lib").mkdir(parents=True)
        else:
            jars = Path(command[-2]) / "jars"
            jars.mkdir()
            for coordinates in (*command[-1].split(","), "org.slf4j:slf4j-api:1.7.36"):
                (jars / "{}_{}-{}.jar".format(*coordinates.split(":"))).touch()


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine()
    monkeypatch.setattr(subprocess, "run", made)
    return made


@pytest.mark.parametrize("engine", ENVIRONMENTS)
def test_an_environment_is_made_once(engine: str, machine: Machine, tmp_path: Path) -> None:
    python = python_of(engine, below=tmp_path)
    assert python == tmp_path / engine / "bin" / "python"
    made = len(machine.commands)
    assert made == (3 if ENVIRONMENTS[engine].jars else 2)
    assert python_of(engine, below=tmp_path) == python
    assert len(machine.commands) == made


def test_the_libraries_that_flink_has_itself_are_not_copied(
    machine: Machine, tmp_path: Path
) -> None:
    python_of("flink", below=tmp_path)
    lib = next(tmp_path.glob("flink/lib/python*/site-packages/pyflink/lib"))
    names = sorted(path.name for path in lib.iterdir())
    assert [name.split("-")[0] for name in names] == [
        "org.apache.flink_flink",
        "org.apache.hadoop_hadoop",
    ]


def test_another_version_is_installed_anew(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tmp_path / "pathway" / "lib" / "python3.11" / "site-packages" / "pathway-0.1.0.dist-info"
    old.mkdir(parents=True)
    monkeypatch.setattr(environments, "_do", machine.commands.append)
    python_of("pathway", below=tmp_path)
    assert "--clear" in machine.commands[0]


def test_what_does_not_install_is_left_out_with_a_word(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(subprocess, "run", Machine(fails_at="pip"))
    assert python_of("bytewax", below=tmp_path) is None
    said = capsys.readouterr().err
    assert "bytewax is left out" in said
    assert "ERROR: No matching distribution found for it" in said


def test_spark_is_that_of_the_project_and_others_are_not_guessed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert python_of("spark", below=tmp_path) == Path(sys.executable)
    assert python_of("storm", below=tmp_path) is None
    assert "storm is left out" in capsys.readouterr().err
