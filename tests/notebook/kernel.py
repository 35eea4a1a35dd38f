"""A kernel of Jupyter as a notebook talks to it."""

from __future__ import annotations

import queue
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jupyter_client.manager import KernelManager

_SECONDS = 30.0


@dataclass(slots=True)
class Output:
    """What a cell has said: its pages by their ids, newest last, its text, and its errors."""

    pages: dict[str, list[str]] = field(default_factory=dict)
    text: str = ""
    error: list[str] = field(default_factory=list)


class Notebook:
    """Runs cells, and hears what they show, then and later."""

    def __init__(self, client: Any) -> None:  # noqa: ANN401  # Jupyter's
        self._client = client
        self.output = Output()

    def run(self, code: str, cell: str = "") -> Output:
        """Run a cell to its end; what it shows later is heard by `until`."""
        self.output = Output()
        message = self._client.session.msg(
            "execute_request",
            {
                "code": code,
                "silent": False,
                "store_history": True,
                "user_expressions": {},
                "allow_stdin": False,
                "stop_on_error": True,
            },
        )
        message["metadata"] = {"cellId": cell}
        self._client.shell_channel.send(message)
        while True:
            heard = self._client.get_iopub_msg(timeout=_SECONDS)
            self._hear(heard)
            idle = heard["msg_type"] == "status" and heard["content"]["execution_state"] == "idle"
            if idle and heard["parent_header"].get("msg_id") == message["header"]["msg_id"]:
                return self.output

    def until(self, words: str) -> str:
        """Wait until some page says something."""
        deadline = time.monotonic() + _SECONDS
        while time.monotonic() < deadline:
            for pages in self.output.pages.values():
                if words in pages[-1]:
                    return pages[-1]
            try:
                self._hear(self._client.get_iopub_msg(timeout=1))
            except queue.Empty:
                continue
        raise AssertionError(f"{words!r} is not in {self.output}")

    def _hear(self, message: dict[str, Any]) -> None:
        content, kind = message["content"], message["msg_type"]
        if kind in {"display_data", "update_display_data", "execute_result"}:
            place = content.get("transient", {}).get("display_id", "")
            # What a cell before has shown goes on changing: that is no page of this one.
            if kind == "update_display_data" and place not in self.output.pages:
                return
            self.output.pages.setdefault(place, []).append(content["data"]["text/plain"])
        elif kind == "stream":
            self.output.text += content["text"]
        elif kind == "error":
            self.output.error = content["traceback"]


@contextmanager
def kernel(folder: Path) -> Iterator[Notebook]:
    """Start a kernel in a folder for the length of a with block."""
    manager = KernelManager(kernel_name="python3", transport="ipc", ip=str(folder / "kernel"))
    manager.start_kernel(cwd=str(folder))
    client = manager.blocking_client()
    try:
        client.start_channels()
        client.wait_for_ready(timeout=_SECONDS)
        yield Notebook(client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        client.context.destroy()
