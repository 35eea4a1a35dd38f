"""Engines as processes that stay: a JSON line asks for a query, a JSON line says what it took."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import Any, TypeAlias

from bench.catalog import ROOT
from bench.nexmark.tree import Watch, times_of

_START = 180.0
_STOP = 20.0
_TAIL = 4000


@dataclass(frozen=True, slots=True)
class EngineCommand:
    """How an engine is started, and what it is called."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ran:
    """A query that went through: the clock, all processors, the most memory, the first result."""

    seconds: float
    cpu: float
    memory: float
    first: float | None
    rows: int


@dataclass(frozen=True, slots=True)
class NotRun:
    """A query that gave nothing to count: refused by the engine, or failed in it."""

    kind: str
    reason: str


Outcome: TypeAlias = Ran | NotRun


class EngineDied(Exception):  # noqa: N818  # what has happened, not what went wrong
    """An engine that gives no answer any more; its message says how that came."""


def close_engines_when_ended() -> None:
    """Let a signal that ends this process close its engines first: their sessions are their own."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


@dataclass(slots=True)
class Driven:
    """One engine at work: ask it, and close it when done."""

    engine: EngineCommand
    log: Path
    _process: subprocess.Popen[str]
    _lines: Queue[str | None]
    hello: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def start(cls, engine: EngineCommand, log: Path) -> Driven:
        """Start an engine in a session of its own; what else it says goes to a log."""
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("w", encoding="utf-8") as errors:
            process = subprocess.Popen(
                engine.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                cwd=ROOT,
                env={**os.environ, **engine.environment},
                start_new_session=True,
            )
        driven = cls(engine, log, process, Queue())
        Thread(target=driven._read, daemon=True).start()
        try:
            driven.hello = driven._answer(_START)
        except EngineDied:
            driven.close()
            raise
        return driven

    def ask(self, request: Mapping[str, Any], patience: float) -> Outcome:
        """Let a query run to its end, and measure the whole engine meanwhile."""
        with Watch(self._process.pid) as watch:
            self._tell(request)
            reply = self._answer(patience)
        if "refused" in reply:
            return NotRun("refused", str(reply["refused"]))
        first = reply.get("first")
        return Ran(
            seconds=float(reply["seconds"]),
            cpu=watch.cpu,
            memory=watch.memory,
            first=None if first is None else float(first),
            rows=int(reply.get("rows") or 0),
        )

    def close(self) -> None:
        """Let the engine end; what is still there after a while is ended."""
        if self._process.poll() is None:
            with contextlib.suppress(EngineDied):
                self._tell({"stop": True})
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_STOP)
        for pid in times_of(self._process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.wait()
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()

    def _tell(self, request: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except (BrokenPipeError, ValueError) as error:
            raise EngineDied(self._last_words()) from error

    def _answer(self, patience: float) -> dict[str, Any]:
        until = time.monotonic() + patience
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, until - time.monotonic()))
            except Empty:
                raise EngineDied(f"no answer within {patience:.0f} s") from None
            if line is None:
                raise EngineDied(self._last_words())
            # Libraries print to the same place, whatever one asks of them.
            with contextlib.suppress(json.JSONDecodeError):
                found = json.loads(line)
                if isinstance(found, dict):
                    return found

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self._lines.put(line)
        self._lines.put(None)

    def _last_words(self) -> str:
        code = self._process.wait()
        said = self.log.read_text(encoding="utf-8", errors="replace")[-_TAIL:].split("\n")
        last = next((line.strip() for line in reversed(said) if line.strip()), "it said nothing")
        return f"ended with {code}: {last}"
