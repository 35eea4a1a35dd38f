from __future__ import annotations

import signal
from functools import partial
from pathlib import Path

import pytest

from penstock.log.open import open_log
from penstock.log.port import Log, ReadLimit
from penstock.log.rows import rows_of_bytes
from tests.cli.shell import Cli, start
from tests.kafka.cluster import Brokers

RECORDS = 120_000


def values(log: Log, topic: str) -> list[bytes]:
    start, end = log.bounds(topic, 0)
    found: list[bytes] = []
    while start < end:
        chunk = log.read(topic, 0, start, ReadLimit())
        found += chunk.rows.column("value").to_pylist()
        start = chunk.next_offset
    return found


def test_all_topics_are_copied_and_counted(cli: Cli) -> None:
    cli.ok("topics", "create", "clicks")
    cli.ok("topics", "create", "orders", "--partitions", "3")
    cli.ok("produce", "clicks", stdin=b"a\nb\n")
    ran = cli.ok("mirror", "--to", "copy")
    assert ran.lines[0].split() == ["topic", "target", "partitions", "records"]
    assert ran.err.endswith("2 records of 2 topics copied\n")
    again = cli.ok("mirror", "clicks", "--to", "copy", "--json").json
    assert again["records"] == 0
    back = cli.ok("mirror", "clicks", "--from", "copy", "--to", ".penstock", "--prefix", "back.")
    assert "back.clicks" in back.out
    assert cli.ok("consume", "back.clicks", "--from-beginning", "--max", "2").lines == ["a", "b"]


def test_a_copy_to_nowhere_is_refused(cli: Cli) -> None:
    ran = cli("mirror", "clicks")
    assert (ran.code, "MIRROR_TARGET" in ran.err) == (2, True)


def test_what_retention_took_is_told(cli: Cli, working_directory: Path) -> None:
    with open_log(working_directory / ".penstock") as log:
        log.create_topic("clicks")
        log.append("clicks", 0, rows_of_bytes([b"1"]))
        cli.ok("mirror", "--to", "copy")
        log.append("clicks", 0, rows_of_bytes([b"2", b"3"]))
        log.delete_records("clicks", 0, before_offset=2)
    assert "1 offset of the source were gone" in cli.ok("mirror", "--to", "copy").err


@pytest.mark.slow
@pytest.mark.kill
def test_a_copy_to_kafka_survives_kills(working_directory: Path, kafka: Brokers) -> None:
    sent = [b"%07d" % number for number in range(RECORDS)]
    name = f"killed-{working_directory.name[-8:]}".replace("_", "-")
    with open_log(working_directory / ".penstock") as log:
        log.create_topic(name)
        for first in range(0, RECORDS, 2000):
            rows = rows_of_bytes([v + bytes(300) for v in sent[first : first + 2000]])
            log.append(name, 0, rows)
    words = ("mirror", name, "--to", f"kafka://{kafka.address}", "--follow")
    with open_log(f"kafka://{kafka.address}") as target:
        for share in (0.1, 0.5):
            process = start(*words)
            kafka.until(partial(_reaches, target, name, share * RECORDS), 60)
            process.kill()
            process.communicate(timeout=30)
        process = start(*words)
        # Offsets tell less: what a kill cut short has some, too, and so has the end of each batch.
        kafka.until(partial(_holds, target, name, RECORDS), 60)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
        assert process.returncode == 130, said
        assert [value[:7] for value in values(target, name)] == sent


def _reaches(log: Log, topic: str, offset: float) -> bool:
    return topic in log.topics() and log.bounds(topic, 0).end >= offset


def _holds(log: Log, topic: str, count: int) -> bool:
    return _reaches(log, topic, count) and len(values(log, topic)) >= count
