"""What a notebook has of Penstock: things that show themselves, SQL, jobs in the background."""

from __future__ import annotations

import atexit
from collections.abc import Callable
from pathlib import Path
from typing import Any

from penstock.app import App
from penstock.config import load_settings
from penstock.errors import PenstockError
from penstock.front.dsl.program import Program
from penstock.front.dsl.stream import Results, Stream, Table
from penstock.notebook.answer_view import FollowedRows, listed_page
from penstock.notebook.background_job import BackgroundJob, BackgroundJobs
from penstock.notebook.live_view import LiveViews
from penstock.notebook.page import Page
from penstock.notebook.preview import Preview
from penstock.notebook.shell import Shell
from penstock.sql.answer import Answer, Followed, Listed, Told
from penstock.sql.session import SqlSession

PLACE = "_penstock"


class Notebook:
    """The parts of one notebook, from the time its extension is loaded."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._sessions: dict[Path, SqlSession] = {}
        self.views = LiveViews(shell)
        self.jobs = BackgroundJobs()

    def load(self) -> None:
        """Let things show themselves, and statements be cells."""
        shown = self._shell.display_formatter.ipython_display_formatter
        for kind in (Stream, Results, Table):
            shown.for_type(kind, self.show_rows)
        shown.for_type(BackgroundJob, self.views.show)
        for answer in (Listed, Followed, Told):
            shown.for_type(answer, self.show_answer)
        atexit.register(self.jobs.end_quietly)
        self._shell.register_magic_function(self.psql, "line_cell", "psql")
        self._shell.set_custom_exc((PenstockError,), tell_error)
        events: Any = getattr(self._shell, "events", None)
        if events is not None:
            events.register("pre_run_cell", self.views.begin_cell)

    def show_rows(self, rows: Stream | Table) -> bool:
        """Show a stream or a table, as it is and as it changes."""
        return self._coded(lambda: self.views.show(Preview(rows, self._home(rows.program))))

    def show_answer(self, answer: Answer) -> bool:
        """Show what a statement has given."""
        return self._coded(lambda: self._show_answer(answer))

    def psql(self, line: str, cell: str | None = None) -> None:
        """Carry out statements: `%psql SHOW TOPICS;`, or a cell that begins with `%%psql`."""
        home, text = load_settings().home, line
        if cell is not None:
            home, text = Path(line.strip()) if line.strip() else home, cell
        for answer in self._session(home).run(text if text.rstrip().endswith(";") else f"{text};"):
            self._show_answer(answer)

    def end(self) -> None:
        """End views and jobs."""
        self.views.end()
        self.jobs.end()
        for session in self._sessions.values():
            session.close()
        self._sessions.clear()

    def _show_answer(self, answer: Answer) -> None:
        match answer:
            case Told(words, notes):
                self._publish(Page("\n".join((words, *notes)), ()))
            case Listed():
                self._publish(listed_page(answer))
            case Followed():
                self.views.show(FollowedRows(answer))

    def _session(self, home: Path) -> SqlSession:
        """Give the session of a home; its queries run in this process."""
        place = home.absolute()
        if place not in self._sessions:
            self._sessions[place] = SqlSession(place, here=True)
        session = self._sessions[place]
        session.follow_queries()
        return session

    def _home(self, program: Program) -> Path:
        """Give where the log of a program is: as its app says, whatever that is called here."""
        for value in list(self._shell.user_ns.values()):
            if isinstance(value, App) and value._program is program:  # noqa: SLF001  # nobody else asks
                return value.home
        return load_settings().home

    def _publish(self, page: Page) -> None:
        self._shell.display_pub.publish(page.bundle())

    def _coded(self, show: Callable[[], None]) -> bool:
        # A formatter that raises is shown with its trace.
        try:
            show()
        except PenstockError as error:
            self._publish(Page(str(error), ()))
        return True


def notebook_of(shell: Shell) -> Notebook:
    """Give the notebook of a shell, loaded."""
    found: Notebook | None = getattr(shell, PLACE, None)
    if found is None:
        found = Notebook(shell)
        setattr(shell, PLACE, found)
        found.load()
    return found


def tell_error(
    shell: Shell,
    kind: type[BaseException],
    error: BaseException,
    trace: object,
    tb_offset: int | None = None,
) -> list[str]:
    """Tell an error of ours by its code, fact and hint; its trace helps nobody."""
    del kind, trace, tb_offset
    lines = str(error).splitlines()
    teller: Any = shell
    teller._showtraceback(type(error), error, lines)  # noqa: SLF001  # as IPython's own handlers do
    return lines
