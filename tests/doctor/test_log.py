from __future__ import annotations

from pathlib import Path

import pytest

from penstock.config import load_settings
from penstock.doctor.log import check_log
from penstock.errors import ConfigError
from tests.kafka.cluster import Brokers


def test_a_log_of_a_directory_needs_nobody(working_directory: Path) -> None:
    assert check_log(load_settings()) == f"in the directory {working_directory / '.penstock'}"
    assert not (working_directory / ".penstock").exists()


def test_brokers_that_keep_the_log_are_asked(
    kafka: Brokers, working_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PENSTOCK_LOG", f"kafka://{kafka.address}")
    assert check_log(load_settings()).startswith(f"kafka://{kafka.address} answers, ")
    # Elsewhere the home itself tells.
    assert (working_directory / ".penstock" / "kafka.json").exists()
    monkeypatch.delenv("PENSTOCK_LOG")
    assert check_log(load_settings()).startswith("Kafka answers, ")


def test_a_property_that_is_refused_is_told(working_directory: Path) -> None:
    (working_directory / "penstock.toml").write_text(
        'log = "kafka://127.0.0.1:1"\n[kafka]\nsecurty.protocol = "SSL"\n'
    )
    with pytest.raises(ConfigError, match="KAFKA_SETTING"):
        check_log(load_settings())
