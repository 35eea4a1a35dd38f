from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.clock import ManualClock
from penstock.log.port import Log
from tests.contract.log.adapters import LOG_ADAPTERS, OpenLog

NOW = 1_700_000_000_000


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW)


# The fast loop runs the two adapters that cost least; `make test` runs all.
_FAST = {"disk", "memory"}
_PARAMETERS = [
    pytest.param(name, marks=() if name in _FAST else pytest.mark.slow)
    for name in sorted(LOG_ADAPTERS)
]


@pytest.fixture(params=_PARAMETERS)
def open_again(
    request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock
) -> Iterator[OpenLog]:
    """Opens the same log anew, as another process would."""
    root = tmp_path / "log"
    root.mkdir()
    opened: list[Log] = []
    with LOG_ADAPTERS[request.param].opener(root, clock) as opener:

        def open_one() -> Log:
            opened.append(opener())
            return opened[-1]

        yield open_one
        for log in opened:
            log.close()


@pytest.fixture
def log(open_again: OpenLog) -> Log:
    return open_again()
