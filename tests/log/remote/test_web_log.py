from __future__ import annotations

from pathlib import Path

import pytest

from penstock.config import load_settings
from penstock.errors import ConfigError
from penstock.log.open import open_log


@pytest.mark.parametrize("url", ["http://", "https://[::1"])
def test_an_address_that_is_none_is_told(url: str) -> None:
    with open_log(url) as log, pytest.raises(ConfigError, match="SERVER_OTHER"):
        log.topics()


def test_the_setting_takes_the_addresses_of_servers_only(tmp_path: Path) -> None:
    def said(log: str) -> str:
        (tmp_path / "penstock.toml").write_text(f'log = "{log}"\n')
        return load_settings(environment={}, directory=tmp_path).log

    for address in ("", "http://host:8080", "https://host", "tcp://127.0.0.1:9000"):
        assert said(address) == address
    with pytest.raises(ConfigError, match="CONFIG_VALUE"):
        said("elsewhere/log")
