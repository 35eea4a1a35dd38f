"""The SQL shell: lines read until a statement is finished, with history and completion."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from penstock.cli.output import report, talk
from penstock.cli.sql_answer import write_answer
from penstock.errors import PenstockError

if TYPE_CHECKING:
    from penstock.sql.session import SqlSession

_PROMPT, _MORE = "sql> ", "...> "
_LEAVE = frozenset({"exit", "quit"})
_HELP = """\
A statement ends with a semicolon and may go over several lines. Ctrl-C stops a query, or forgets
what was typed; Ctrl-D or "exit" leaves. SHOW STREAMS; SHOW TABLES; SHOW QUERIES; SHOW FUNCTIONS;
DESCRIBE name; and DESCRIBE FUNCTION name; tell what there is."""
_HISTORY = 1000

ReadLine: TypeAlias = Callable[[str], str]


def run_shell(session: SqlSession, *, json: bool, read_line: ReadLine = input) -> None:
    """Answer statements until the person leaves; what is refused is told, and the shell goes on."""
    talk('SQL on this log. "help" tells how; Ctrl-D leaves.')
    waiting = ""
    while True:
        _tell_failures(session)
        try:
            line = read_line(_MORE if waiting else _PROMPT)
        except KeyboardInterrupt:
            talk("")
            waiting = ""
            continue
        except EOFError:
            return
        word = line.strip().rstrip(";").lower()
        if not waiting and word in _LEAVE:
            return
        if not waiting and word == "help":
            talk(_HELP)
            continue
        waiting = _answered(session, f"{waiting}{line}\n", json=json)


@contextlib.contextmanager
def line_editing(session: SqlSession, home: Path) -> Iterator[None]:
    """Let lines be edited, remembered and completed for the length of a with block."""
    try:
        import readline  # noqa: PLC0415  # not every system has it, and only a shell needs it
    except ImportError:
        yield
        return
    history = home / "sql_history"
    with contextlib.suppress(OSError):
        readline.read_history_file(history)
    readline.set_history_length(_HISTORY)
    readline.set_completer(completer(session))
    readline.set_completer_delims(" \t\n()<>=+-*/%,;.'`\"[]")
    readline.parse_and_bind("tab: complete")
    try:
        yield
    finally:
        readline.set_completer(None)
        with contextlib.suppress(OSError):
            readline.write_history_file(history)


def completer(session: SqlSession) -> Callable[[str, int], str | None]:
    """Give what readline asks for the words that can follow, one after the other."""
    from penstock.sql.completion import completed, known_words  # noqa: PLC0415  # loads the log

    found: list[str] = []

    def complete(begun: str, number: int) -> str | None:
        if number == 0:
            words: tuple[str, ...] = ()
            with contextlib.suppress(PenstockError):
                words = known_words(session.definitions())
            found[:] = completed(begun, words)
        return found[number] if number < len(found) else None

    return complete


def _answered(session: SqlSession, text: str, *, json: bool) -> str:
    """Run a text if it is finished; give what is still to be finished."""
    from penstock.front.sql.lex_split import unfinished  # noqa: PLC0415

    if not text.strip():
        return ""
    if unfinished(text):
        return text
    try:
        for answer in session.run(text):
            write_answer(answer, json=json)
            sys.stdout.flush()
    except KeyboardInterrupt:
        talk("stopped")
    except PenstockError as error:
        report(error)
    return ""


def _tell_failures(session: SqlSession) -> None:
    """Tell of queries that have ended by themselves, and let new ones run."""
    from penstock.sql.running import shown_failure  # noqa: PLC0415

    try:
        for id_, error in session.follow_queries().items():
            talk(f"query {id_} has ended: {shown_failure(error)}")
    except PenstockError as error:
        report(error)
