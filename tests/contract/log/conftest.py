from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.clock import ManualClock
from penstock.log.port import Log
from tests.contract.log.adapters import KAFKA, LOG_ADAPTERS, WEB, LogAdapter, OpenLog, WebDoor
from tests.kafka.emptied import EmptiedBroker

NOW = 1_700_000_000_000


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW)


# The fast loop runs the two adapters that cost least; `make test` runs all.
_FAST = {"disk", "memory"}
_PARAMETERS = [
    pytest.param(name, marks=() if name in _FAST else pytest.mark.slow)
    for name in sorted([*LOG_ADAPTERS, KAFKA, WEB])
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
    doors = {WEB: "web_door", KAFKA: "own_broker"}
    door: LogAdapter | WebDoor | EmptiedBroker = (
        request.getfixturevalue(doors[name]) if name in doors else LOG_ADAPTERS[name]
    )
    opening = door.opener
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
