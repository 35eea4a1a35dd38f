"""Programs in real-time mode on a real broker: they give what the test driver gives."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer

from bench.connector import connector_jars
from tests.kafka.cluster import Brokers

pytestmark = [pytest.mark.spark, pytest.mark.slow]

PROJECT = Path(__file__).resolve().parents[3]
START = 1_700_000_000_000
PATIENCE = 60.0
KINDS = ("stateless", "windowed", "dedup")


@pytest.fixture
def project(tmp_path: Path, kafka: Brokers) -> Path:
    jars, missing = connector_jars()
    if missing:
        pytest.skip(missing)
    settings = f"""
[spark]
master = "local[8]"

[realtime]
jars = "{jars}"
servers = "{kafka.address}"
"""
    (tmp_path / "penstock.toml").write_text(settings, encoding="utf-8")
    return tmp_path


@pytest.mark.timeout(240)
def test_three_programs_give_what_they_give_elsewhere(project: Path, kafka: Brokers) -> None:
    topic = kafka.topic()
    given = [
        {"user": f"u{n % 5}", "n": n % 60, "sent": n, "at": START + 100 * n} for n in range(100)
    ]
    with running(project, topic) as child:
        # What cannot be read is left out, and ends nothing.
        send(kafka, topic, [json.dumps(row).encode() for row in given[:50]] + [b"{no json"])
        send(kafka, topic, [json.dumps(row).encode() for row in given[50:]])
        found = {kind: read(kafka, f"{topic}-{kind}", want) for kind, want in wanted(given).items()}
        said, _ = child.communicate(timeout=PATIENCE)
    assert said.splitlines() == [f"{kind} running None" for kind in KINDS]
    assert found == wanted(given)


def wanted(given: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Work out what each program gives, with nothing of ours; every change of a window counts."""
    kept = [row for row in given if row["n"] % 2 == 0]
    windows: dict[tuple[str, int], list[int]] = {}
    changes = []
    for row in given:
        start = row["at"] // 10_000 * 10_000
        told = windows.setdefault((row["user"], start), [0, 0])
        told[0] += 1
        told[1] += row["n"]
        changes.append({**told_window(row, start), "n": told[0], "total": told[1]})
    first = {row["n"]: row["sent"] for row in reversed(given)}
    return {
        "stateless": [
            {"user": row["user"], "sent": row["sent"], "double": 2 * row["n"]} for row in kept
        ],
        "windowed": sorted(changes, key=lambda row: row["sent"]),
        "dedup": [{"n": n, "sent": sent} for n, sent in sorted(first.items(), key=lambda i: i[1])],
    }


def told_window(row: dict[str, Any], start: int) -> dict[str, Any]:
    bounds = {"window_start": moment(start), "window_end": moment(start + 10_000)}
    return {"user": row["user"], **bounds, "sent": row["sent"]}


def moment(millis: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(millis / 1000))


@contextmanager
def running(project: Path, topic: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-m", "tests.spark.realtime.job", topic],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(PROJECT), "TMPDIR": str(project)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        try:
            assert child.stdout is not None
            assert child.stdout.readline() == "started\n"
            yield child
        finally:
            child.kill()


def send(kafka: Brokers, topic: str, values: list[bytes]) -> None:
    producer = Producer({"bootstrap.servers": kafka.address})
    for value in values:
        producer.produce(topic, value)
    assert producer.flush(PATIENCE) == 0


def read(kafka: Brokers, topic: str, want: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Give the values of a topic, by when their event was sent, once there are enough."""
    consumer = Consumer(
        {
            "bootstrap.servers": kafka.address,
            "group.id": topic,
            "auto.offset.reset": "earliest",
        }
    )
    consumer.subscribe([topic])
    found: list[dict[str, Any]] = []
    until = time.monotonic() + PATIENCE
    while len(found) < len(want) and time.monotonic() < until:
        message = consumer.poll(0.2)
        value = None if message is None or message.error() else message.value()
        if value is not None:
            found.append(json.loads(value))
    consumer.close()
    return sorted(found, key=lambda row: row["sent"])


def test_a_topic_that_is_not_there_is_missed_before_anything_starts(
    project: Path, kafka: Brokers
) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "tests.spark.realtime.job", "no-such-topic"],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(PROJECT), "TMPDIR": str(project)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=4 * PATIENCE,
    )
    assert "TOPIC_MISSING" in ran.stderr
    assert kafka.partitions("no-such-topic-stateless") == []
