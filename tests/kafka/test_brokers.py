"""`penstock kafka` with real brokers: up, down, up again, killed, more of them."""

from __future__ import annotations

import re
import socket
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer

from penstock.broker.cluster import Cluster, Machinery
from penstock.broker.plan import HOST, new_plan, taken
from penstock.errors import LogError
from tests.cli.shell import Cli, shell
from tests.house.survey import ROOT
from tests.kafka.cluster import Brokers, jars, missing

pytestmark = [pytest.mark.slow, pytest.mark.kill]
BLOCK = re.compile(r"```sh\n(.*?)```", re.DOTALL)


@pytest.fixture
def cli(
    working_directory: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Cli:
    return Cli(capsys, monkeypatch)


def written(address: str, topic: str) -> None:
    producer = Producer({"bootstrap.servers": address, "acks": "all"})
    producer.produce(topic, b"kept")
    assert producer.flush(30) == 0


def read(address: str, topic: str) -> bytes:
    settings = {"bootstrap.servers": address, "group.id": "g", "auto.offset.reset": "earliest"}
    consumer = Consumer(settings)
    try:
        consumer.subscribe([topic])
        record = consumer.poll(30)
        assert record is not None
        value = record.value()
        assert isinstance(value, bytes)
        return value
    finally:
        consumer.close()


def test_a_broker_outlives_its_command_and_keeps_its_records(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if missing():
        pytest.skip(missing())
    # Only until it is up: what it then does is little.
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1")
    begin, ask, end = BLOCK.findall((ROOT / "docs" / "kafka.md").read_text())[0].splitlines()
    assert cli.ok(*ask.split()[1:], "--json").json is None
    try:
        line = shell(begin).stdout
        first = cli.ok(*ask.split()[1:], "--json").json
        assert line == f'log = "kafka://{first["address"]}"\n'
        assert first["controllers"] == [first["leading_controller"]] == [1]
        cluster = Cluster(tmp_path / ".penstock" / "kafka")
        brokers = Brokers(cluster, cluster.plan() or new_plan(1), Machinery(jars()))
        topic = brokers.topic()
        written(first["address"], topic)
        assert cli.ok("kafka", "up").out == line
        assert brokers.pid(1) == first["brokers"][0]["pid"]

        brokers.kill(1)
        assert cli.ok(*ask.split()[1:]).out.count("down") == 1
        assert cli.ok("kafka", "up").out == line
        assert read(first["address"], topic) == b"kept"

        larger = cli.ok("kafka", "up", "--brokers", "2", "--json").json
        assert larger["address"].startswith(f"{first['address']},")
        again = cli.ok("kafka", "status", "--json").json
        assert [broker["state"] for broker in again["brokers"]] == ["up", "up"]
        assert (again["topics"], again["partitions_behind"]) == (2, 0)
    finally:
        assert cli.ok(*end.split()[1:]).err.endswith("stopped\n")
    assert cli.ok(*ask.split()[1:]).out.count("down") == 2


def test_fewer_brokers_than_hold_records_are_refused(kafka_cluster: Brokers) -> None:
    with pytest.raises(LogError, match="BROKER_COUNT"):
        kafka_cluster.cluster.up(kafka_cluster.machinery, brokers=1)


def test_a_port_that_somebody_took_from_a_killed_broker_is_named(kafka_cluster: Brokers) -> None:
    kafka_cluster.kill(3)
    assert taken([kafka_cluster.plan.nodes[2].port]) == []
    port = kafka_cluster.plan.nodes[2].port
    refused = pytest.raises(LogError, match="BROKER_PORT")
    with socket.create_server((HOST, port)), refused:
        kafka_cluster.cluster.up(kafka_cluster.machinery)


def test_a_broker_that_cannot_start_is_said_with_its_own_words(tmp_path: Path) -> None:
    if missing():
        pytest.skip(missing())
    cluster = Cluster(tmp_path)
    with pytest.raises(LogError, match=r"BROKER_START.*nonsense") as caught:
        cluster.up(Machinery(jars(), settings={"log.segment.bytes": "nonsense"}))
    assert str(tmp_path) in caught.value.hint
    assert cluster.down() == 0
    (tmp_path / "cluster.json").write_text("{")
    with pytest.raises(LogError, match="BROKER_NOTE"):
        cluster.up(Machinery(jars()))
