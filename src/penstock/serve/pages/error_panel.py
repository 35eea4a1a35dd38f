"""How an error is shown on a page: what, its code, and what to do; never a trace."""

from __future__ import annotations

from nicegui import ui

from penstock.errors import PenstockError

_UNEXPECTED = "UNEXPECTED"
_NOT_FOUND, _REFUSED, _FAILED = 404, 400, 500


def error_panel(error: Exception) -> None:
    """Show an error where the page is being made."""
    code, fact, hint = told(error)
    with ui.element("section").classes("ps-panel ps-error").props('role="alert"'):
        with ui.element("h2"):
            ui.label(fact[:1].upper() + fact[1:]).classes("ps-wrap")
        if hint:
            ui.label(hint).classes("ps-wrap")
        ui.label(code).classes("ps-mono ps-muted")


def told(error: Exception) -> tuple[str, str, str]:
    """Give code, fact and hint; of an error that is not ours only its kind."""
    if isinstance(error, PenstockError):
        return error.code, error.fact, error.hint
    return (
        _UNEXPECTED,
        f"the page could not be made: {type(error).__name__}",
        "The server's log says where; load the page again once that is mended.",
    )


def status_of(error: Exception) -> int:
    """Give the HTTP status of a page that shows an error."""
    if not isinstance(error, PenstockError):
        return _FAILED
    return _NOT_FOUND if error.code.endswith("_MISSING") else _REFUSED
