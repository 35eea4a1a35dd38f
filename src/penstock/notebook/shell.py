"""What of IPython's shell is used: to publish, to format, to run magics."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Protocol


class Publisher(Protocol):
    """Sends what is to be shown to whoever looks at the notebook."""

    def publish(
        self,
        data: dict[str, str],
        metadata: dict[str, Any] | None = None,
        *,
        transient: dict[str, str] | None = None,
        update: bool = False,
    ) -> None:
        """Show something, or what takes the place of what was shown under the same id."""
        ...


class Shell(Protocol):
    """IPython's interactive shell."""

    display_pub: Publisher
    display_formatter: Any
    user_ns: dict[str, Any]

    def register_magic_function(
        self, func: Callable[..., Any], magic_kind: str, magic_name: str
    ) -> None:
        """Let a function be a magic."""
        ...

    def set_custom_exc(self, exc_tuple: tuple[type[BaseException], ...], handler: Any) -> None:  # noqa: ANN401  # as IPython has it
        """Let a function tell of errors."""
        ...


def running_shell() -> Shell | None:
    """Give the shell that this process is, if it is one."""
    loaded = sys.modules.get("IPython")
    found: Shell | None = None if loaded is None else loaded.get_ipython()
    return found


def cell_of(shell: Shell) -> str:
    """Give the id of the cell that runs, as the notebook calls it; nothing where it does not."""
    parent: dict[str, Any] = getattr(shell, "get_parent", dict)()
    found = parent.get("metadata", {}).get("cellId", "")
    return str(found)


def updates(shell: Shell) -> bool:
    """Whether what was shown can be changed: in a notebook, not on a terminal."""
    return getattr(shell, "kernel", None) is not None
