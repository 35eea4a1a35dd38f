"""A Ctrl-C that Python had to swallow comes again.

One that arrives while an object is cleaned up, or inside a callback of C, is printed as ignored and
gone: who pressed the keys would wait for ever.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

_SOON = 0.05

Hook: TypeAlias = "Callable[[UnraisableHookArgs], object]"


def repeat_swallowed_interrupts() -> None:
    """Let every interrupt of this process be heard, from now on."""
    sys.unraisablehook = repeating(sys.unraisablehook)


def repeating(others: Hook, send: Callable[[], None] | None = None) -> Hook:
    """Give a hook that sends an interrupt again, and hands everything else on."""

    def hook(unraisable: UnraisableHookArgs) -> None:
        if not issubclass(unraisable.exc_type, KeyboardInterrupt):
            others(unraisable)
            return
        # Later: now it would be swallowed once more.
        again = threading.Timer(_SOON, send or _interrupt)
        again.daemon = True
        again.start()

    return hook


def _interrupt() -> None:
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
