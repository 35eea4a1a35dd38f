"""How pages are declared: all wait for a log that answers late."""

from __future__ import annotations

from nicegui import ui

# A log on Kafka answers late while its brokers are looked for, and then says so with a code.
# NiceGUI would show an error of its own after 3 s; it is the server's limit that ends a request.
PATIENCE = 3600.0


def declared(path: str) -> ui.page:
    """Declare a page; what takes long is waited for, as long as the server lets it."""
    return ui.page(path, response_timeout=PATIENCE)
