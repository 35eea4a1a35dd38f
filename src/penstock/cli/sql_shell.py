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
    from penstock.sql.answering import Answering

_PROMPT, _MORE = "sql> ", "...> "
_LEAVE = frozenset({"exit", "quit"})
_HELP = """\
A statement ends with a semicolon and may go over several lines. Ctrl-C stops a query, or forgets
what was typed; Ctrl-D or "exit" leaves. SHOW STREAMS; SHOW TABLES; SHOW QUERIES; SHOW FUNCTIONS;
DESCRIBE name; and DESCRIBE FUNCTION name; tell what there is."""
_HISTORY = 1000

ReadLine: TypeAlias = Callable[[str], str]
Remember: TypeAlias = Callable[[list[str]], None]
"""Remembers the lines of a statement as one."""


def run_shell(
    session: Answering,
    *,
    json: bool,
    read_line: ReadLine = input,
    remember: Remember = lambda _: None,
) -> None:
    """Answer statements until the person leaves; what is refused is told, and the shell goes on."""
    talk('SQL on this log. "help" tells how; Ctrl-D leaves.')
    waiting = ""
    told: dict[str, str] = {}
    while True:
        tell_failures(session, told)
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
        waiting = f"{waiting}{line}\n"
        if not _unfinished(waiting):
            remember(waiting.splitlines())
            _answer(session, waiting, json=json)
            waiting = ""


@contextlib.contextmanager
def line_editing(session: Answering, home: Path) -> Iterator[Remember]:
    """Let lines be edited, remembered and completed for the length of a with block."""
    try:
        import readline  # noqa: PLC0415  # not every system has it, and only a shell needs it
    except ImportError:
        yield lambda _: None
        return

    def remember(lines: list[str]) -> None:
        """Let a statement over several lines be one of the history, to be edited as a whole."""
        if len(lines) < 2 or any("--" in line for line in lines):  # noqa: PLR2004
            return
        for _ in lines:
            last = readline.get_current_history_length() - 1
            if last >= 0 and readline.get_history_item(last + 1) in lines:
                readline.remove_history_item(last)
        readline.add_history(" ".join(line.strip() for line in lines if line.strip()))

    history = home / "sql_history"
    with contextlib.suppress(OSError):
        readline.read_history_file(history)
    readline.set_history_length(_HISTORY)
    readline.set_completer(completer(session))
    readline.set_completer_delims(" \t\n()<>=+-*/%,;.'`\"[]")
    readline.parse_and_bind("tab: complete")
    readline.parse_and_bind("set show-all-if-ambiguous on")
    try:
        yield remember
    finally:
        readline.set_completer(None)
        with contextlib.suppress(OSError):
            readline.write_history_file(history)


def completer(session: Answering) -> Callable[[str, int], str | None]:
    """Give what readline asks for the words that can follow, one after the other."""
    from penstock.sql.completion import completed  # noqa: PLC0415  # loads the log

    found: list[str] = []

    def complete(begun: str, number: int) -> str | None:
        if number == 0:
            words: tuple[str, ...] = ()
            with contextlib.suppress(PenstockError):
                words = session.words()
            found[:] = completed(begun, words)
        return found[number] if number < len(found) else None

    return complete


def _unfinished(text: str) -> bool:
    from penstock.front.sql.lex_split import unfinished  # noqa: PLC0415

    return bool(text.strip()) and unfinished(text)


def _answer(session: Answering, text: str, *, json: bool) -> None:
    try:
        for answer in session.run(text):
            write_answer(answer, json=json)
            sys.stdout.flush()
    except KeyboardInterrupt:
        talk("stopped")
    except PenstockError as error:
        report(error)


def tell_failures(session: Answering, told: dict[str, str]) -> None:
    """Tell once of each query that has ended by itself, and let new ones run."""
    try:
        failed = session.follow_queries()
    except PenstockError as error:
        report(error)
        return
    why = {
        id_: it.fact if isinstance(it, PenstockError) else repr(it) for id_, it in failed.items()
    }
    for id_, fact in why.items():
        if told.get(id_) != fact:
            talk(f"query {id_} has ended: {fact}")
    told.clear()
    told.update(why)
