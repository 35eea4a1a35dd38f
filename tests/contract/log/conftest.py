from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.clock import ManualClock
from penstock.log.port import Log
from tests.contract.log.adapters import LOG_ADAPTERS, WEB, OpenLog, WebDoor

NOW = 1_700_000_000_000


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW)


# The fast loop runs the two adapters that cost least; `make test` runs all.
_FAST = {"disk", "memory"}
_PARAMETERS = [
    pytest.param(name, marks=() if name in _FAST else pytest.mark.slow)
    for name in sorted([*LOG_ADAPTERS, WEB])
]


@pytest.fixture(scope="module")
def web_door() -> Iterator[WebDoor]:
    """The server of the logs that are opened by `http://`."""
    door = WebDoor()
    yield door
    door.close()


@pytest.fixture(params=_PARAMETERS)
def open_again(
    request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock
) -> Iterator[OpenLog]:
    """Opens the same log anew, as another process would."""
    root = tmp_path / "log"
    root.mkdir()
    opened: list[Log] = []
    name: str = request.param
    door: WebDoor | None = request.getfixturevalue("web_door") if name == WEB else None
    opening = LOG_ADAPTERS[name].opener if door is None else door.opener
    with opening(root, clock) as opener:

        def open_one() -> Log:
            opened.append(opener())
            return opened[-1]

        yield open_one
        for log in opened:
            log.close()


@pytest.fixture
def log(open_again: OpenLog) -> Log:
    return open_again()
