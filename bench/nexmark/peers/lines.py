"""The lines that a peer and the harness speak: a request a line in, an outcome a line out."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


class RefusedError(Exception):
    """What an engine cannot express, or not sensibly, in a sentence."""


@dataclass(frozen=True, slots=True)
class Request:
    """Run one query over all the events of a folder."""

    query: str
    events: Path
    results: Path | None
    batch: int


@dataclass(slots=True)
class Outcome:
    """What a query took and gave, as seen by its sink."""

    began: float = field(default_factory=time.perf_counter)
    seconds: float = 0.0
    first: float | None = None
    rows: int = 0

    def saw(self, rows: int) -> None:
        """Count rows that came out."""
        if rows and self.first is None:
            self.first = time.perf_counter() - self.began
        self.rows += rows

    def ended(self) -> None:
        """Stop the watch."""
        self.seconds = time.perf_counter() - self.began


def drops_results() -> bool:
    """Whether this engine was started to give its results to a sink that drops them."""
    return "nowhere" in sys.argv[1:]


@contextmanager
def printing_aside() -> Iterator[None]:
    """Start a JVM within: it has for ever what is standard output then, and prints to it."""
    replies = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(replies, 1)
        os.close(replies)


def serve(about: dict[str, Any], run: Callable[[Request], Outcome]) -> None:
    """Say who we are, then answer line by line until told to stop."""
    # Engines print what they like: only our own lines may go where the harness reads.
    replies = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    replies.write(json.dumps(about) + "\n")
    for line in sys.stdin:
        asked: dict[str, Any] = json.loads(line)
        if asked.get("stop"):
            break
        replies.write(json.dumps(_reply(asked, run)) + "\n")


def _reply(asked: dict[str, Any], run: Callable[[Request], Outcome]) -> dict[str, object]:
    results = asked.get("results")
    request = Request(
        asked["query"],
        Path(asked["events"]),
        Path(results) if results else None,
        int(asked.get("batch") or 250_000),
    )
    try:
        done = run(request)
    except RefusedError as refused:
        return {"refused": str(refused)}
    return {"seconds": done.seconds, "first": done.first, "rows": done.rows}
