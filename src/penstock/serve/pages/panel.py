"""A panel of a dashboard: its query, asked again or followed, shown as it says."""

from __future__ import annotations

import asyncio

from nicegui import ui

from penstock.errors import PenstockError
from penstock.project.dashboard import Panel
from penstock.serve.access.role import Role
from penstock.serve.pages.asking import Following, Rows, asked_now, followed
from penstock.serve.pages.chart import Axes
from penstock.serve.pages.error_panel import told
from penstock.serve.pages.result_view import ResultView
from penstock.serve.platform import Platform


def axes_of(panel: Panel) -> Axes:
    """Give which columns a panel draws as what."""
    return Axes(
        panel.x,
        panel.y,
        panel.split,
        panel.latitude,
        panel.longitude,
        panel.size,
        panel.unit,
    )


class LivePanel:
    """A panel on a page; what it shows changes where it stands."""

    def __init__(self, platform: Platform, panel: Panel) -> None:
        self._platform = platform
        self._panel = panel
        self._following: Following | None = None
        self._view = ResultView(panel.kind, axes_of(panel))
        self._wrong = (
            ui.label().classes("ps-small ps-mono ps-failure ps-wrap").props('role="alert"')
        )
        self._wrong.visible = False
        self._busy = False

    async def refresh(self) -> None:
        """Ask again, or show what has come."""
        if self._busy:
            return
        self._busy = True
        try:
            rows = await asyncio.to_thread(self._rows)
            if rows is not None:
                self._wrong.visible = False
                self._view.show(rows)
        except PenstockError as error:
            _, fact, hint = told(error)
            self._wrong.set_text(f"{fact}\n{hint}".strip())
            self._wrong.visible = True
        finally:
            self._busy = False

    def stop(self) -> None:
        """Let go of what is followed."""
        if self._following is not None:
            self._following.stop()

    def _rows(self) -> Rows:
        if self._panel.mode == "pull":
            return asked_now(self._platform, self._panel.query)
        if self._following is None:
            # Whoever looks may have more rights than whoever wrote the file.
            found = followed(self._platform, self._panel.query, Role.READER, self._panel.keep)
            if isinstance(found, Rows):
                return found
            self._following = found
        if self._following.failure is not None:
            raise self._following.failure
        return Rows(self._following.columns, self._following.rows())
