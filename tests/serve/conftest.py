from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.serve import kit


@pytest.fixture
def served() -> Iterator[kit.Served]:
    """A registry over HTTP, with clients."""
    with kit.served() as found:
        yield found
