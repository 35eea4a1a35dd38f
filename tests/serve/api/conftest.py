"""A server of its own for tests of the API."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from penstock.serve.application import application
from penstock.serve.opened import opened_platform
from penstock.serve.platform import Platform
from penstock.serve.server import HttpServer


@pytest.fixture
def platform(tmp_path: Path) -> Iterator[Platform]:
    """A home that is open."""
    with opened_platform(tmp_path / "home") as found:
        yield found


@pytest.fixture
def server(platform: Platform) -> Iterator[HttpServer]:
    """A server of that home."""
    with HttpServer(application(platform)) as found:
        yield found


@pytest.fixture
def api(server: HttpServer) -> Iterator[httpx.Client]:
    """Somebody who asks it."""
    with httpx.Client(base_url=f"{server.url}/api/v1", timeout=20) as found:
        yield found
