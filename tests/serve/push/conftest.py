from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from penstock.serve.application import application
from penstock.serve.opened import opened_platform
from penstock.serve.platform import Platform
from penstock.serve.server import HttpServer


@dataclass(frozen=True, slots=True)
class Live:
    """A platform that is served, and where what it has live is asked for."""

    platform: Platform
    url: str


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    """An empty home that is served."""
    with opened_platform(tmp_path) as platform, HttpServer(application(platform)) as server:
        yield Live(platform, f"{server.url}/api/v1/live")
        # Streams that are open end at once, and keep the server from nothing.
        platform.feeds.close()
