"""Somebody who does what a page says, block by block, in the working directory."""

from __future__ import annotations

import io
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stdout
from functools import partial
from itertools import zip_longest
from pathlib import Path

from penstock.cli.main import run
from tests.cli.shell import Cli, start
from tests.docs.pages import DOCS
from tests.eventually import eventually

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
NAMED = re.compile(r"(?:#|--) (\S+\.(?:py|toml|sql))\n")
# A shell reads the commands and what they are given; they are run in this process.
RECORDER = """set -eu
penstock() {
  n=$(ls call.* 2>/dev/null | wc -l); printf '%s\\0' "$@" > call.$n; cat > given.$n
}
"""
ENDED = {0, 130}


class Reader:
    """Does what pages say; `codes` are the commands that are to end with another status than 0.

    `swaps` are words that are others on this machine, such as a port; `works` tells whether a
    command that goes on until Ctrl-C has done what it was started for.
    """

    def __init__(
        self,
        cli: Cli,
        codes: Mapping[str, int] | None = None,
        swaps: Mapping[str, str] | None = None,
        works: Callable[[str], bool] = lambda _: True,
    ) -> None:
        self._cli = cli
        self._works = works
        self._codes = codes or {}
        self._swaps = swaps or {}
        self.names: dict[str, object] = {"__name__": "page"}
        self.said: dict[str, str] = {}
        """What each command has printed."""
        self.told = ""
        """What the last one has told beside that, on stderr."""

    def reads(self, page: str, begin: str = "", end: str = "\0") -> None:
        """Do what all blocks of a page say; a text block right below is what one prints.

        Of a page that is read in parts, from one heading on and up to another one.
        """
        text = (DOCS / page).read_text(encoding="utf-8")
        assert begin in text, begin
        text = text[text.index(begin) :].partition(end)[0]
        for word, other in self._swaps.items():
            text = text.replace(word, other)
        found = [*BLOCK.finditer(text)]
        assert found, page
        for block, following in zip_longest(found, found[1:]):
            printed = self.does(block[1], block[2])
            if following and following[1] == "text" and following.start() == block.end() + 1:
                assert printed == following[2], block[2]

    def does(self, kind: str, block: str) -> str:
        """Do what a block says, and give what is printed."""
        named = NAMED.match(block)
        if named or kind == "toml":
            path = Path(named[1] if named else "penstock.toml")
            path.parent.mkdir(exist_ok=True)
            with path.open("w" if named else "a", encoding="utf-8") as file:
                file.write(block)
            return ""
        if kind == "python":
            output = io.StringIO()
            with redirect_stdout(output):
                exec(compile(block, "page", "exec"), self.names)
            return output.getvalue()
        if kind in {"sh", "bash"}:
            return self.types([(line, "") for line in whole_lines(block)])
        return self.types([*prompted(block)]) if kind == "console" else ""

    def types(self, commands: list[tuple[str, str]]) -> str:
        """Type commands one after the other; what a page shows of an output must be there."""
        printed = ""
        for place, (command, shown) in enumerate(commands):
            if "--follow" in command:
                followed(command)
                continue
            if runs_on(command):
                self.beside(command, partial(self.types, commands[place + 1 :]))
                break
            self.said[command] = self._typed(command)
            for line in shown.splitlines():
                assert line.strip() in self.said[command] + self.told, (command, self.said[command])
            printed += self.said[command]
        return printed

    def _typed(self, command: str) -> str:
        if command.startswith("cd "):
            os.chdir(shlex.split(command, comments=True)[1])
            return ""
        done = subprocess.run(
            ["bash", "-c", RECORDER + command],
            check=True,
            timeout=60,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        )
        said, self.told = done.stdout, ""
        for call in sorted(Path().glob("call.*")):
            given = call.with_name(call.name.replace("call", "given"))
            ran = self._cli(*call.read_text().split("\0")[:-1], stdin=given.read_bytes())
            assert ran.code == self._codes.get(command.partition("  ")[0], 0), (command, ran)
            call.unlink()
            given.unlink()
            said += ran.out
            self.told += ran.err
        return said

    def beside(self, command: str, work: Callable[[], object]) -> None:
        """Run a command that ends with Ctrl-C while something is done in a second terminal."""
        ended = threading.Event()
        trouble: list[BaseException] = []

        def second_terminal() -> None:
            try:
                eventually(lambda: ended.is_set() or self._works(command))
                work()
            except BaseException as error:  # noqa: BLE001  # raised where the test hears it
                trouble.append(error)
            if not ended.is_set():
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

        second = threading.Thread(target=second_terminal)
        second.start()
        try:
            code = run(shlex.split(command, comments=True)[1:])
        except KeyboardInterrupt:
            code = 0
        ended.set()
        second.join(60)
        assert not trouble, trouble
        assert code in ENDED, (command, code)


def runs_on(command: str) -> bool:
    """Whether a command goes on until Ctrl-C."""
    words = shlex.split(command, comments=True)
    ends = {"status", "--until-idle", "--bounded"}
    endless = words[:2] == ["penstock", "host"] or words[:3] == ["penstock", "sql", "run"]
    return endless and not ends & set(words)


def followed(command: str) -> None:
    """Run a command that follows what happens until it has said something, and end it."""
    with start(*shlex.split(command)[1:]) as process:
        assert process.stdout is not None
        assert process.stdout.readline(), command
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert process.returncode in ENDED, said


def whole_lines(block: str) -> list[str]:
    """Give the commands of a shell's block."""
    return [line for line in block.replace("\\\n", " ").splitlines() if line.strip()]


def prompted(block: str) -> Iterator[tuple[str, str]]:
    """Give the commands of a terminal's block, each with what it printed there."""
    for part in re.split(r"^\$ ", block.replace("\\\n", " "), flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        yield command, shown
