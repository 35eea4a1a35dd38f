from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
import typer

from penstock.cli import main
from penstock.cli.main import run, split_flags
from penstock.errors import TopicError, UsageError

AddCommand = Callable[[Callable[[], None]], None]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> AddCommand:
    """Adds a command named `try` that does what the test says."""

    def add(body: Callable[[], None]) -> None:
        module = ModuleType("try_command")

        def register(application: typer.Typer) -> None:
            application.command("try")(body)

        module.register = register  # type: ignore[attr-defined]  # a module made by hand
        monkeypatch.setitem(sys.modules, "try_command", module)
        monkeypatch.setitem(main.COMMANDS, "try", "try_command")

    return add


def penstock(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "penstock", *arguments],
        capture_output=True,
        check=False,
        env=os.environ | more,
        text=True,
    )


def test_a_coded_error_is_told_on_stderr_and_fails(
    command: AddCommand, capsys: pytest.CaptureFixture[str]
) -> None:
    def body() -> None:
        raise TopicError("TOPIC_MISSING", 'topic "x" does not exist', hint="Create it.")

    command(body)
    assert run(["try"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == 'error [TOPIC_MISSING] topic "x" does not exist\n  Create it.\n'


def test_a_contradiction_on_the_command_line_is_a_usage_error(
    command: AddCommand, capsys: pytest.CaptureFixture[str]
) -> None:
    def body() -> None:
        raise UsageError("FLAG_VALUE", "two flags contradict one another")

    command(body)
    assert run(["try"]) == 2
    assert capsys.readouterr().err.startswith("error [FLAG_VALUE] two flags")


def test_a_java_stack_stays_hidden(command: AddCommand, capsys: pytest.CaptureFixture[str]) -> None:
    def body() -> None:
        message = "An error occurred while calling o1\n: java.lang.Error\n\tat org.apache.X(X.java)"
        raise RuntimeError(message)

    command(body)
    assert run(["try"]) == 1
    err = capsys.readouterr().err
    assert err.startswith("error [UNEXPECTED] RuntimeError: An error occurred while calling o1\n")
    assert "org.apache" not in err
    assert "Traceback" not in err
    assert "--debug" in err


@pytest.mark.parametrize("way", ["flag", "variable", "file"])
def test_debug_shows_the_traceback(
    way: str,
    command: AddCommand,
    capsys: pytest.CaptureFixture[str],
    working_directory: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def body() -> None:
        raise TopicError("TOPIC_MISSING", "gone")

    command(body)
    if way == "variable":
        monkeypatch.setenv("PENSTOCK_DEBUG", "1")
    if way == "file":
        (working_directory / "penstock.toml").write_text("debug = true\n")
    assert run(["try", *(["--debug"] if way == "flag" else [])]) == 1
    err = capsys.readouterr().err
    assert "Traceback (most recent call last)" in err
    assert "in body" in err
    assert err.endswith("error [TOPIC_MISSING] gone\n")


@pytest.mark.usefixtures("working_directory")
def test_ctrl_c_is_quiet(command: AddCommand, capsys: pytest.CaptureFixture[str]) -> None:
    def body() -> None:
        signal.raise_signal(signal.SIGINT)

    command(body)
    assert run(["try"]) == 130
    captured = capsys.readouterr()
    assert captured.out + captured.err == ""


def test_a_reader_that_leaves_early_is_no_complaint(tmp_path: Path) -> None:
    script = (
        "from penstock.cli import main, output\n"
        "def register(app):\n"
        "    app.command('try')(lambda: [output.write_line('x' * 99) for _ in range(100_000)])\n"
        "main.COMMANDS['try'] = 'many'\n"
        "main.main()\n"
    )
    (tmp_path / "many.py").write_text(script.partition("main.COMMANDS")[0])
    (tmp_path / "start.py").write_text(script)
    with subprocess.Popen(
        [sys.executable, str(tmp_path / "start.py"), "try"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "x" * 99 + "\n"
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait() == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["confg", "show"], "No such command 'confg'. Did you mean 'config'?"),
        (["config", "shwo"], "No such command 'shwo'. Did you mean 'show'?"),
        (["doctor", "--quik"], "--quick"),
        (["doctor", "--json", "extra"], "extra"),
    ],
)
def test_a_misspelt_word_is_corrected_and_is_a_usage_error(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert said in captured.err


def test_a_flag_without_its_value_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["config", "show", "--home"]) == 2
    assert 'error [FLAG_VALUE] flag "--home" has no value' in capsys.readouterr().err


def test_flags_of_every_command_may_stand_anywhere() -> None:
    assert split_flags(["a", "--home", "doctor", "b", "--debug", "--master=x", "--json"]) == (
        ["--home=doctor", "--debug", "--master=x"],
        ["a", "b", "--json"],
    )


def test_what_follows_two_dashes_is_left_alone() -> None:
    assert split_flags(["produce", "--", "--home", "x"]) == ([], ["produce", "--", "--home", "x"])


def test_a_value_that_is_also_a_command_does_not_choose_the_command(
    working_directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["--home", "doctor", "config", "show", "--json"]) == 0
    assert str(working_directory / "doctor") in capsys.readouterr().out


def test_only_the_file_of_the_command_is_loaded() -> None:
    script = (
        "import sys; from penstock.cli.main import run; run(['config', 'show']);"
        "sys.exit('penstock.cli.doctor_command' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_the_version_is_told() -> None:
    done = penstock("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, "penstock 0.1.0\n", "")


def test_help_for_a_pipe_is_plain_text() -> None:
    done = penstock("config", "show", "--help", COLUMNS="100")
    assert done.returncode == 0
    assert done.stdout.isascii()
    assert "$ penstock config show --origin\n" in done.stdout


def test_the_shell_completes_commands() -> None:
    done = penstock(COMP_WORDS="penstock conf", COMP_CWORD="1", _PENSTOCK_COMPLETE="complete_bash")
    assert done.stdout.split() == ["config"]
