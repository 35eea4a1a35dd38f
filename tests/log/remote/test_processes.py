"""Server, producer and consumer as processes of their own, over a socket."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from datetime import timedelta
from pathlib import Path

import pytest

from penstock.errors import PenstockError, StorageError
from penstock.log.consumer import Consumer
from penstock.log.embedded.nodes import nodes
from penstock.log.port import ReadLimit
from penstock.log.producer import Producer
from penstock.log.remote.client import RemoteLog
from penstock.log.rows import rows_of_bytes
from tests.log.channel.kit import eventually
from tests.log.remote.kit import ServerProcess, server_process

pytestmark = pytest.mark.kill

_PRODUCE = """
import sys
from penstock.log.open import open_log
from penstock.log.producer import Producer

with open_log(sys.argv[1]) as log, Producer(log) as producer:
    for number in range(int(sys.argv[2])):
        producer.send("orders", b"%d" % number)
"""
_CONSUME = """
import sys
from penstock.log.consumer import Consumer
from penstock.log.open import open_log

with open_log(sys.argv[1]) as log, Consumer(log, "orders", group="billing") as consumer:
    print("ready", flush=True)
    for record in consumer.records(max_records=int(sys.argv[2])):
        print(record.value.decode(), flush=True)
"""


def start(script: str, server: ServerProcess, home: Path, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script, server.address, str(count)],
        env={**os.environ, "PENSTOCK_HOME": str(home)},
        stdout=subprocess.PIPE,
        text=True,
    )


def output(process: subprocess.Popen[str]) -> list[str]:
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    return out.split()


def test_a_producer_needs_no_consumer_and_a_consumer_no_producer(tmp_path: Path) -> None:
    with server_process(tmp_path) as server, RemoteLog(server.address, home=tmp_path) as log:
        log.create_topic("orders")
        # The producer comes and goes before there is any consumer.
        assert output(start(_PRODUCE, server, tmp_path, 100)) == []
        numbers = [str(number) for number in range(100)]
        assert output(start(_CONSUME, server, tmp_path, 100)) == ["ready", *numbers]
        # The consumer waits while there is no producer.
        consumer = start(_CONSUME, server, tmp_path, 50)
        assert consumer.stdout is not None
        assert consumer.stdout.readline() == "ready\n"
        assert output(start(_PRODUCE, server, tmp_path, 50)) == []
        assert output(consumer) == numbers[:50]


def test_the_view_changes_when_a_server_stops_is_killed_or_starts(tmp_path: Path) -> None:
    assert nodes(tmp_path) == ()
    with server_process(tmp_path) as first, server_process(tmp_path) as second:
        assert {node.address for node in nodes(tmp_path)} == {first.address, second.address}
        assert {node.pid for node in nodes(tmp_path)} == {first.process.pid, second.process.pid}
        first.kill()
        assert [node.address for node in nodes(tmp_path)] == [second.address]
        with server_process(tmp_path, first.port) as again:
            assert again.address == first.address
            assert {node.address for node in nodes(tmp_path)} == {first.address, second.address}
        second.process.send_signal(signal.SIGINT)
        second.process.wait(20)
        assert nodes(tmp_path) == ()


def test_what_was_acknowledged_is_there_after_the_server_was_killed(tmp_path: Path) -> None:
    acknowledged: list[int] = []
    refused: list[str] = []
    with server_process(tmp_path) as server, RemoteLog(server.address, home=tmp_path) as log:
        log.create_topic("orders")

        def append() -> None:
            try:
                for number in range(1_000_000):
                    log.append("orders", 0, rows_of_bytes([b"%d" % number]))
                    acknowledged.append(number)
            except PenstockError as refusal:
                refused.append(refusal.code)

        writer = threading.Thread(target=append)
        writer.start()
        assert eventually(lambda: len(acknowledged) > 50)
        server.kill()
        writer.join(20)
        assert refused == ["LOG_UNREACHABLE"]
        with pytest.raises(StorageError, match="LOG_UNREACHABLE"):
            log.topics()
        with server_process(tmp_path, server.port):
            rows = log.read("orders", 0, 0, ReadLimit()).rows
            found = [int(value) for value in rows["value"].to_pylist()]
            # The append under way may have been done, too.
            assert found in (acknowledged, [*acknowledged, len(acknowledged)])


def test_producer_and_consumer_survive_a_server_killed_and_started_anew(tmp_path: Path) -> None:
    with server_process(tmp_path) as server, RemoteLog(server.address, home=tmp_path) as log:
        log.create_topic("orders")
        producer = Producer(log)
        consumer = Consumer(log, "orders", group="billing", auto_commit=None)
        producer.send("orders", b"before")
        producer.flush()
        assert [record.value for record in consumer.records(max_records=1)] == [b"before"]
        consumer.commit()
        server.kill()
        with pytest.raises(StorageError, match="LOG_UNREACHABLE"):
            producer.send("orders", b"during").result()
        with pytest.raises(StorageError, match="LOG_UNREACHABLE"):
            _poll_until_refused(consumer)
        with server_process(tmp_path, server.port):
            producer.send("orders", b"after")
            producer.close()
            found = consumer.records(max_records=1, idle_timeout=timedelta(seconds=20))
            assert [record.value for record in found] == [b"after"]
            consumer.close()


def _poll_until_refused(consumer: Consumer) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        consumer.poll(0.05)


def test_a_server_asked_to_stop_lets_its_clients_finish(tmp_path: Path) -> None:
    with server_process(tmp_path) as server, RemoteLog(server.address, home=tmp_path) as log:
        log.create_topic("orders")
        begun = time.monotonic()
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(20) == 0
        assert time.monotonic() - begun < 4
