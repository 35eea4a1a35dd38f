"""What people do on pages: asked for where it loses something, done beside the page, told."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from nicegui import ui

from penstock.errors import PenstockError
from penstock.serve.access.needs import require
from penstock.serve.access.role import Role
from penstock.serve.pages.error_panel import told

_LOG = logging.getLogger("penstock.pages")
Click: TypeAlias = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked before something is done: the consequence, and the word of the button."""

    title: str
    consequence: str
    button: str
    danger: bool = True


def require_role(role: Role) -> None:
    """Refuse whoever looks at this page and has not at least a role."""
    require(ui.context.client.request, role)


async def act(role: Role, work: Callable[[], object], done: str) -> bool:
    """Do something beside the page, and tell that it was done, or why not."""
    try:
        require_role(role)
        await asyncio.to_thread(work)
    except PenstockError as error:
        tell_refusal(error)
        return False
    except Exception as error:  # noqa: BLE001  # a page never shows a trace; the log has it
        _LOG.exception("an action failed")
        tell_refusal(error)
        return False
    ui.notify(done, type="positive")
    return True


def tell_refusal(error: Exception) -> None:
    """Tell why something was not done, and what to do."""
    code, fact, hint = told(error)
    text = fact[:1].upper() + fact[1:]
    ui.notify(
        f"{text}\n{hint}\n{code}" if hint else f"{text}\n{code}",
        type="negative",
        multi_line=True,
        close_button="Close",
        timeout=12_000,
    )


async def agreed(question: Question) -> bool:
    """Ask, and give whether it was agreed to."""
    with ui.dialog() as dialog, ui.card():
        with ui.element("h2"):
            ui.label(question.title)
        ui.label(question.consequence).classes("ps-wrap")
        with ui.element("div").classes("ps-row").style("justify-content: flex-end; width: 100%"):
            ui.button("Cancel", on_click=lambda: dialog.submit(False)).props("flat")  # noqa: FBT003
            sure = ui.button(question.button, on_click=lambda: dialog.submit(True))  # noqa: FBT003
            sure.props(f"unelevated color={'negative' if question.danger else 'primary'}")
    found = await dialog
    dialog.delete()
    return bool(found)
