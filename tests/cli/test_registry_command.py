from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient

from penstock.log.open import open_log
from penstock.schema.registry.registry import Registry
from tests.cli.shell import Cli, start

SCHEMA = '{"type":"record","name":"R","fields":[]}'


@contextmanager
def serving(*words: str) -> Iterator[subprocess.Popen[str]]:
    """A registry that does not outlive its test."""
    with start("registry", "serve", "--port", "0", *words) as server:
        try:
            yield server
        finally:
            server.kill()


@pytest.mark.kill
@pytest.mark.parametrize("word", [signal.SIGINT, signal.SIGTERM])
def test_a_registry_prints_its_address_and_keeps_what_clients_register(
    working_directory: Path, word: signal.Signals
) -> None:
    with serving() as server:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        with SchemaRegistryClient({"url": address}) as client:
            assert client.register_schema("orders-value", Schema(SCHEMA, "AVRO")) == 1
        server.send_signal(word)
        _, said = server.communicate(timeout=30)
        assert server.returncode == 130, said
        assert "Traceback" not in said
    with open_log(working_directory / ".penstock") as log:
        assert Registry(log).version("orders-value").schema.text == SCHEMA
    with serving("--json") as server:
        assert server.stdout is not None
        address = json.loads(server.stdout.readline())["url"]
        with SchemaRegistryClient({"url": address}) as client:
            assert client.get_latest_version("orders-value").schema_id == 1


@pytest.mark.kill
@pytest.mark.usefixtures("working_directory")
def test_a_port_that_is_taken_is_told(cli: Cli) -> None:
    with serving() as server:
        assert server.stdout is not None
        port = server.stdout.readline().strip().rpartition(":")[2]
        ran = cli("registry", "serve", "--port", port)
        assert ran.code == 1
        assert "PORT_TAKEN" in ran.err


@pytest.mark.usefixtures("working_directory")
def test_a_guarded_topic_takes_only_values_of_registered_schemas(cli: Cli) -> None:
    cli.ok("topics", "create", "orders", "--set", "guard=topic")
    shown = cli.ok("topics", "describe", "orders", "--json").json
    assert shown["settings"]["guard"].endswith("SubjectGuard(topic)")
    refused = cli("produce", "orders", stdin=b"plain\n")
    assert refused.code == 1
    assert "SCHEMA_REFUSED" in refused.err
    cli.ok("topics", "set", "orders", "guard=none")
    cli.ok("produce", "orders", stdin=b"plain\n")
    with open_log(Path(".penstock")) as log:
        assert log.bounds("orders", 0).end == 1


@pytest.mark.usefixtures("working_directory")
def test_another_guard_is_named_in_full(cli: Cli) -> None:
    ran = cli("topics", "create", "orders", "--set", "guard=no.such:Guard")
    assert ran.code == 1
    assert "GUARD_MISSING" in ran.err


@pytest.mark.usefixtures("working_directory")
def test_the_address_of_another_registry_is_a_setting(cli: Cli) -> None:
    shown = cli.ok("config", "show", "--json", "--url", "http://ann:secret@far:8081").json
    assert shown["registry.url"] == "http://ann:***@far:8081"
    ran = cli("config", "show", "--url", "far")
    assert "CONFIG_VALUE" in ran.err
