"""What is shown in a cell, and updates where it stands."""

from __future__ import annotations

import contextvars
import secrets
import threading
from collections.abc import Callable
from typing import Protocol

from penstock.errors import PenstockError
from penstock.notebook.page import Page
from penstock.notebook.shell import Shell, cell_of, updates

_PATIENCE = 0.25
_MOST_VIEWS = 20
"""Views that update at a time; the one that was shown first stops where there are more."""


class Shown(Protocol):
    """What changes: it reads on, and says how it looks."""

    def read(self) -> bool:
        """Take in what is new; whether there was anything."""
        ...

    def wait(self, seconds: float) -> None:
        """Sleep until there may be something new."""
        ...

    def page(self) -> Page:
        """Say how it looks."""
        ...

    def close(self) -> None:
        """Let go of what it reads."""
        ...


class LiveView:
    """One place in the notebook, updated from a thread until it is ended."""

    def __init__(self, shell: Shell, shown: Shown, done: Callable[[LiveView], None]) -> None:
        self._shell = shell
        self._shown = shown
        self._done = done
        self._id = f"penstock-{secrets.token_hex(8)}"
        self._ended = threading.Event()
        self.cell = cell_of(shell)
        # The thread speaks for the cell that it was begun in.
        around = contextvars.copy_context()
        self._thread = threading.Thread(target=around.run, args=(self._run,), daemon=True)

    def show(self) -> bool:
        """Show what there is, and go on in the background where that can be seen."""
        self._shown.read()
        self._publish(self._shown.page(), update=False)
        if updates(self._shell):
            self._thread.start()
            return True
        self._shown.close()
        return False

    def end(self) -> None:
        """Update no longer; what is shown stays."""
        self._ended.set()

    def _run(self) -> None:
        try:
            while not self._ended.is_set():
                self._shown.wait(_PATIENCE)
                if self._shown.read():
                    self._publish(self._shown.page(), update=True)
        except PenstockError as error:
            page = self._shown.page()
            below = f"[{error.code}] {error.fact}. {error.hint}"
            self._publish(Page(page.title, page.columns, page.rows, below), update=True)
        finally:
            self._done(self)
            self._shown.close()

    def _publish(self, page: Page, *, update: bool) -> None:
        transient = {"display_id": self._id}
        self._shell.display_pub.publish(page.bundle(), transient=transient, update=update)


class LiveViews:
    """The views of a notebook: a cell that runs again ends those that it has shown before."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._views: list[LiveView] = []
        self._lock = threading.Lock()

    def show(self, shown: Shown) -> None:
        """Show something in the cell that runs."""
        view = LiveView(self._shell, shown, self._forget)
        if view.show():
            with self._lock:
                self._views.append(view)
                for old in self._views[:-_MOST_VIEWS]:
                    old.end()

    def begin_cell(self, *_: object) -> None:
        """End what the cell that begins has shown when it ran before."""
        cell = cell_of(self._shell)
        with self._lock:
            for view in self._views:
                if cell and view.cell == cell:
                    view.end()

    def end(self) -> None:
        """End all."""
        with self._lock:
            for view in self._views:
                view.end()

    def _forget(self, view: LiveView) -> None:
        with self._lock:
            if view in self._views:
                self._views.remove(view)
