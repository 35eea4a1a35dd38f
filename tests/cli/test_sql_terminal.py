from __future__ import annotations

import contextlib
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ORDERS = (
    "CREATE STREAM orders (id STRING KEY, item STRING, amount INT)"
    " WITH (KAFKA_TOPIC='orders', VALUE_FORMAT='JSON', PARTITIONS=1);"
)
COUNTED = "CREATE TABLE counted AS SELECT item, COUNT(*) AS n FROM orders GROUP BY item;"
PATIENCE = 90


class Terminal:
    """A shell on a terminal of its own: keys go in, and what was drawn comes out."""

    def __init__(self, screen: int) -> None:
        self._screen = screen
        self._read = ""

    def until(self, text: str, patience: float = PATIENCE) -> str:
        """Give what was drawn up to a text; without it the test fails."""
        deadline = time.monotonic() + patience
        while text not in self._read:
            assert time.monotonic() < deadline, (text, self._read)
            if select.select([self._screen], [], [], 0.2)[0]:
                self._read += os.read(self._screen, 65536).decode(errors="replace")
        before, _, self._read = self._read.partition(text)
        return before + text

    def type(self, keys: str) -> None:
        os.write(self._screen, keys.encode())

    def answer(self, statement: str) -> str:
        """Type a line, and give all up to the next prompt."""
        self.type(f"{statement}\n")
        self.until("\n")
        return self.until("sql> ")

    def interrupt(self) -> None:
        self.type("\x03")

    def give_up_line(self) -> None:
        """Press Ctrl-C until there is a new prompt: one that comes while keys are drawn is lost."""
        for _ in range(3):
            self.interrupt()
            with contextlib.suppress(AssertionError):
                self.until("sql> ", patience=PATIENCE / 6)
                return
        self.until("sql> ")


# A process that leads its session and opens a terminal is the one that Ctrl-C there interrupts.
STARTED = """
import os, sys
os.open(os.ttyname(0), os.O_RDWR)
os.execv(sys.executable, [sys.executable, "-m", "penstock", "sql"])
"""


@contextmanager
def terminal() -> Iterator[Terminal]:
    screen, keyboard = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", STARTED],
        stdin=keyboard,
        stdout=keyboard,
        stderr=keyboard,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "120", "LINES": "40", "NO_COLOR": "1"},
        start_new_session=True,
    )
    os.close(keyboard)
    try:
        yield Terminal(screen)
        assert process.wait(PATIENCE) == 0
    finally:
        process.kill()
        process.wait()
        os.close(screen)


def write_statements(shell: Terminal) -> None:
    """Several lines are one statement, Tab completes, and what is wrong is shown where it is."""
    assert "stream ORDERS created" in shell.answer(ORDERS)
    shell.type("INSERT INTO orde\t")
    shell.until("orders")
    shell.until("INSERT INTO order")
    shell.type("s\nVALUES ('a', 'tea', 2), ('b', 'milk', 30);\n")
    shell.until("2 rows written")
    shell.until("sql> ")
    wrong = shell.answer("SELECT itm FROM orders;")
    assert "       ^^^" in wrong
    assert 'Did you mean "ITEM"?' in wrong
    wrong = shell.answer("INSERT INTO orders VALUES ('a', 'b', 'c');")
    assert "STRING where INTEGER is wanted" in wrong


def follow_rows(shell: Terminal) -> None:
    """Rows of a stream come below one another, those of a table stay where they are."""
    shell.answer("SET 'auto.offset.reset' = 'earliest';")
    shell.type("SELECT id, amount FROM orders EMIT CHANGES;\n")
    shell.until("b   30")
    shell.interrupt()
    assert "stopped" in shell.until("sql> ")
    shell.type("SELECT item, n FROM counted EMIT CHANGES;\n")
    shell.until("milk  1")
    shell.interrupt()
    assert "stopped" in shell.until("sql> ")


@pytest.mark.slow
def test_a_person_works_in_the_shell(working_directory: Path) -> None:
    with terminal() as shell:
        shell.until("sql> ")
        write_statements(shell)
        # A query runs here while the shell is open, and an answer has what it made.
        assert "runs here as long as this does" in shell.answer(COUNTED)
        assert "tea" in shell.answer("SELECT * FROM counted;")
        assert "running" in shell.answer("SHOW QUERIES EXTENDED;")
        follow_rows(shell)
        shell.type("SELECT 'forgotten")
        shell.until("forgotten")
        shell.give_up_line()
        shell.type("exit\n")
    history = (working_directory / ".penstock" / "sql_history").read_text()
    assert "INSERT INTO orders VALUES ('a', 'tea', 2), ('b', 'milk', 30);" in history
