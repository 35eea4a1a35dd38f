from __future__ import annotations

from pathlib import Path

import pytest

from penstock.errors import UsageError
from penstock.log.open import open_log
from penstock.log.remote.address import port_of, server_address


def test_an_address_names_a_port_of_this_machine() -> None:
    assert port_of(server_address(4711)) == port_of("tcp://localhost:4711") == 4711


@pytest.mark.parametrize(
    "address",
    [
        "tcp://127.0.0.1",
        "tcp://127.0.0.1:0",
        "tcp://127.0.0.1:70000",
        "tcp://127.0.0.1:x",
        "tcp://10.0.0.1:80",
        "http://127.0.0.1:80",
        "tcp://",
        "tcp://[::1",
        "127.0.0.1:80",
    ],
)
def test_an_address_elsewhere_or_nowhere_is_refused(address: str) -> None:
    with pytest.raises(UsageError, match="LOG_ADDRESS"):
        port_of(address)


def test_opening_a_log_by_such_an_address_makes_no_directory(working_directory: Path) -> None:
    with pytest.raises(UsageError, match="LOG_ADDRESS"):
        open_log("tcp://elsewhere:80")
    assert list(working_directory.iterdir()) == []
