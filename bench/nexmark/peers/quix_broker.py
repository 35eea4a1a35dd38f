"""A Kafka broker of our own for as long as a peer runs, and the events in its topics."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import quixstreams  # type: ignore[import-not-found]  # of another Python
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

PARTITIONS = 2
_JARS = Path(quixstreams.__file__).parent / "*"
_HEAP = "-Xmx512m"
_PATIENCE = 60
_DAY = 86_400_000
_SETTINGS = """
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
log.dirs={folder}/data
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
group.initial.rebalance.delay.ms=0
log.retention.ms=-1
"""
_CLUSTER = "MkU3OEVBNTcwNTJENDM2Qk"


@dataclass(frozen=True, slots=True)
class Broker:
    """A broker that is up."""

    address: str
    loaded: dict[str, int] = field(default_factory=dict)
    """The rows of each topic that holds events."""

    def topic_of(self, events: Path, kind: str, key: str) -> str:
        """Give the topic with one kind of events by a key; it is filled on its first use."""
        topic = f"{events.name}-{kind}-by-{key}"
        if topic not in self.loaded:
            client = AdminClient({"bootstrap.servers": self.address})
            new = NewTopic(topic, num_partitions=PARTITIONS, replication_factor=1)
            for done in client.create_topics([new]).values():
                done.result()
            self.loaded[topic] = self._fill(topic, events / kind, key)
        return topic

    def rows_of(self, topic: str) -> list[dict[str, Any]]:
        """Give all rows of a topic, those of a partition in their order."""
        names = {"bootstrap.servers": self.address, "group.id": topic}
        consumer = Consumer({**names, "enable.partition.eof": True, "enable.auto.commit": False})
        parts = [TopicPartition(topic, number, OFFSET_BEGINNING) for number in range(PARTITIONS)]
        consumer.assign(parts)
        rows, ended = [], 0
        while ended < PARTITIONS:
            for message in consumer.consume(10_000, timeout=1):
                error = message.error()
                if error is None:
                    rows.append(json.loads(message.value() or b""))
                else:
                    ended += error.code() == KafkaError._PARTITION_EOF  # noqa: SLF001  # its name
        consumer.close()
        return rows

    def clear(self) -> None:
        """Drop all topics but those of events."""
        client = AdminClient({"bootstrap.servers": self.address})
        names = [
            name
            for name in client.list_topics().topics
            if name not in self.loaded and not name.startswith("__")
        ]
        for done in client.delete_topics(names).values() if names else ():
            done.result()

    def _fill(self, topic: str, folder: Path, key: str) -> int:
        producer = Producer({"bootstrap.servers": self.address, "linger.ms": 50})
        count = 0
        for path in sorted(folder.glob("*.parquet")):
            for row in _plain(pq.read_table(path)).to_pylist():
                keyed = _key_of(row, key)
                while True:
                    try:
                        producer.produce(topic, json.dumps(row), keyed, timestamp=row["date_time"])
                        break
                    except BufferError:
                        producer.poll(0.1)
                count += 1
            producer.poll(0)
        producer.flush()
        return count


@contextmanager
def broker() -> Iterator[Broker]:
    """Start a broker on this machine, and end it afterwards."""
    with tempfile.TemporaryDirectory(prefix="quix-kafka-") as folder:
        port, controller = _free_port(), _free_port()
        settings = Path(folder) / "server.properties"
        settings.write_text(_SETTINGS.format(port=port, controller=controller, folder=folder))
        java = ("java", _HEAP, "-cp", str(_JARS))
        form = (*java, "kafka.tools.StorageTool", "format", "-t", _CLUSTER, "-c", str(settings))
        subprocess.run(form, check=True, stdout=sys.stderr)
        process = subprocess.Popen((*java, "kafka.Kafka", str(settings)), stdout=sys.stderr)
        try:
            _wait_for(port, process)
            yield Broker(f"127.0.0.1:{port}")
        finally:
            process.terminate()
            try:
                process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until and process.poll() is None:
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    message = "the Kafka broker does not come up"
    raise RuntimeError(message)


def _key_of(row: dict[str, Any], key: str) -> str:
    if key == "all":
        return key
    return str(row["date_time"] // _DAY if key == "day" else row[key])


def _free_port() -> int:
    with socket.socket() as tried:
        tried.bind(("127.0.0.1", 0))
        port: int = tried.getsockname()[1]
        return port


def _plain(rows: pa.Table) -> pa.Table:
    """Give times as milliseconds."""
    for place, column in enumerate(rows.schema):
        if pa.types.is_timestamp(column.type):
            rows = rows.set_column(place, column.name, rows[column.name].cast(pa.int64()))
    return rows
