"""Light or dark: as the system says, or as was chosen; the browser remembers."""

from __future__ import annotations

from typing import Final

from nicegui import ui

COOKIE: Final = "penstock-mode"
_MODES: Final = {
    "system": (None, "As the system", "contrast"),
    "light": (False, "Light", "light_mode"),
    "dark": (True, "Dark", "dark_mode"),
}
_YEAR: Final = 365 * 24 * 3600


def mode_switch() -> None:
    """Show the switch, and put the page into the mode that the browser remembers."""
    remembered = ui.context.client.request.cookies.get(COOKIE, "system")
    chosen = remembered if remembered in _MODES else "system"
    mode = ui.dark_mode(_MODES[chosen][0])
    button = ui.button(icon=_MODES[chosen][2]).props("flat round dense color=inherit")
    button.props('aria-label="Light or dark"')

    def choose(name: str) -> None:
        mode.value, _, icon = _MODES[name]
        button.props(f"icon={icon}")
        # A cookie, since the server then gives the page in the right mode at once.
        ui.run_javascript(
            f"document.cookie = '{COOKIE}={name}; path=/; max-age={_YEAR}; SameSite=Lax'"
        )

    with button, ui.menu():
        for name, (_, label, _icon) in _MODES.items():
            ui.menu_item(label, lambda name=name: choose(name))
