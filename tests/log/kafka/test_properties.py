from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from penstock.config import load_settings
from penstock.errors import ConfigError, SetupError
from penstock.log.kafka.home import REMINDER, bind_home, kafka_of, require_client
from penstock.log.kafka.properties import kafka_place, shown, told_openly

SECRETS = {"sasl": {"username": "joe", "password": "tr0ub4dor"}, "ssl.key.password": "k3y"}


def test_an_address_names_brokers_and_their_default_port() -> None:
    assert kafka_place("kafka://one,two:9093/", {}).servers == "one:9092,two:9093"
    assert kafka_place("kafka://[::1]:9092", {}).servers == "[::1]:9092"


@pytest.mark.parametrize("address", ["kafka://", "kafka://a:b", "kafka://u:pw@host:9092"])
def test_an_address_that_is_none_is_refused_without_being_shown(address: str) -> None:
    with pytest.raises(ConfigError, match="KAFKA_ADDRESS") as caught:
        kafka_place(address, {})
    assert "pw" not in str(caught.value)


def test_properties_come_from_tables_files_and_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "password").write_text("from a file\n")
    monkeypatch.setenv("MINE", "from mine")
    monkeypatch.setenv("PENSTOCK_KAFKA_SASL_MECHANISM", "PLAIN")
    told = {
        "sasl": {"password_file": str(tmp_path / "password"), "username_env": "MINE"},
        "socket.keepalive.enable": True,
        "replication.factor": 3,
    }
    place = kafka_place("kafka://host", told)
    assert place.properties == {
        "sasl.password": "from a file",
        "sasl.username": "from mine",
        "sasl.mechanism": "PLAIN",
        "socket.keepalive.enable": "true",
    }
    assert place.replication == 3


@pytest.mark.parametrize(
    "told",
    [
        {"enable.idempotence": "false"},
        {"replication.factor": "many"},
        {"sasl.password_file": "/nowhere/at/all"},
        {"sasl.password_env": "NOT_SET_ANYWHERE"},
        {"client.id": ["a"]},
    ],
)
def test_a_property_that_cannot_be_is_named(told: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match="KAFKA_SETTING"):
        kafka_place("kafka://host", told)


def test_secrets_are_shown_nowhere(tmp_path: Path) -> None:
    place = kafka_place("kafka://host", SECRETS)
    (tmp_path / "penstock.toml").write_text(
        'log = "kafka://host"\n[kafka]\nsasl.password = "tr0ub4dor"\n"client.rack" = "r1"\n'
    )
    settings = load_settings(environment={}, directory=tmp_path)
    bind_home(settings)
    remembered = (settings.home / REMINDER).read_text()
    texts = (repr(place), str(place), repr(settings), str(shown(SECRETS)), remembered)
    assert not any(secret in text for text in texts for secret in ("tr0ub4dor", "k3y"))
    assert shown(SECRETS)["sasl.password"] == "***"
    assert told_openly({"sasl.password": "x", "sasl.password_file": "f"}) == {
        "sasl.password_file": "f"
    }
    assert json.loads(remembered)["properties"] == {"client.rack": "r1"}


def test_a_home_remembers_its_cluster_for_processes_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "penstock.toml").write_text('log = "kafka://host"\n')
    home = tmp_path / ".penstock"
    assert kafka_of(home) is None
    monkeypatch.chdir(tmp_path)
    here = kafka_of(home)
    assert here is not None
    assert kafka_of(tmp_path / "another") is None
    monkeypatch.chdir("/")
    there = kafka_of(home)
    assert there is not None
    assert there.servers == here.servers == "host:9092"
    (home / REMINDER).write_text("{")
    with pytest.raises(ConfigError, match="KAFKA_SETTING"):
        kafka_of(home)


def test_a_missing_client_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "confluent_kafka", None)
    with pytest.raises(SetupError, match="KAFKA_CLIENT_MISSING"):
        require_client()
