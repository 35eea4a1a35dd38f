"""The log as a broker, seen from outside: several processes, files on disk, kills."""

from __future__ import annotations

import hashlib
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from penstock.log.consumer import Consumer
from penstock.log.embedded.disk import DiskFile
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.open import open_log
from penstock.log.port import ReadLimit
from penstock.log.producer import Producer
from penstock.log.record import TopicPartition
from penstock.log.rows import rows_of_bytes
from penstock.log.topic import TopicConfig

pytestmark = pytest.mark.slow

WRITE = """
import sys
from penstock.log.open import open_log
from penstock.log.producer import Producer
home, topic, name, count = sys.argv[1:5]
partition = int(sys.argv[5]) if len(sys.argv) > 5 else None
with open_log(home) as log, Producer(log) as producer:
    for number in range(int(count)):
        producer.send(topic, f"{name} {number}".encode(), partition=partition)
"""
WRITE_AND_WAIT = """
import sys, time
from penstock.log.open import open_log
from penstock.log.producer import Producer
with open_log(sys.argv[1]) as log, Producer(log) as producer:
    for number in range(1000):
        producer.send("clicks", bytes([number % 256]) * 5, key=b"\\x00\\xff\\n")
    producer.flush()
    print("acknowledged", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EmbeddedLog]:
    with open_log(tmp_path) as log:
        log.create_topic("clicks", partitions=3, config=TopicConfig(segment_bytes=20_000))
        log.create_topic("other")
        yield log


def _start(code: str, *arguments: object) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE)


def _finish(*children: subprocess.Popen[bytes]) -> None:
    for child in children:
        child.communicate(timeout=60)
        assert child.returncode == 0


def _values(log: EmbeddedLog, topic: str, partition: int) -> list[bytes]:
    rows = log.read(topic, partition, 0, ReadLimit(bytes=10**9)).rows
    return list(rows["value"].to_pylist())


def _read_all(log: EmbeddedLog, count: int, **settings: str) -> list[bytes]:
    found: list[bytes] = []
    with Consumer(log, ["clicks"], start="earliest", **settings) as consumer:  # type: ignore[arg-type]
        while len(found) < count:
            found += [bytes(record.value or b"") for record in consumer.poll(10)]  # type: ignore[arg-type]
    return found


def _counted(method: Callable[..., object], calls: list[str]) -> Callable[..., object]:
    def count(*arguments: object) -> object:
        calls.append(method.__name__)
        return method(*arguments)

    return count


def _read_batches(log: EmbeddedLog, count: int) -> list[bytes]:
    found: list[bytes] = []
    with Consumer(log, "clicks", start="earliest") as consumer:
        while len(found) < count:
            batch = consumer.poll_batch(10)
            assert batch is not None
            found += batch.rows["value"].to_pylist()
    return found


def test_what_was_acknowledged_survives_kill_nine_byte_for_byte(
    log: EmbeddedLog, tmp_path: Path
) -> None:
    child = _start(WRITE_AND_WAIT, tmp_path)
    assert child.stdout is not None
    assert child.stdout.readline() == b"acknowledged\n"
    child.send_signal(signal.SIGKILL)
    child.communicate()
    with open_log(tmp_path) as again:
        rows = [again.read("clicks", number, 0, ReadLimit()).rows for number in range(3)]
        keys = [key for part in rows for key in part["_key"].to_pylist()]
        values = [value for part in rows for value in part["value"].to_pylist()]
    assert keys == [b"\x00\xff\n"] * 1000
    assert values == [bytes([number % 256]) * 5 for number in range(1000)]


def test_two_subscribers_each_get_every_record(log: EmbeddedLog, tmp_path: Path) -> None:
    _finish(_start(WRITE, tmp_path, "clicks", "p", 500))
    expected = Counter(b"p %d" % number for number in range(500))
    assert Counter(_read_all(log, 500)) == expected
    with open_log(tmp_path) as other:
        assert Counter(_read_all(other, 500)) == expected


def test_three_producers_and_three_consumers_at_once_lose_nothing(
    log: EmbeddedLog, tmp_path: Path
) -> None:
    writers = [_start(WRITE, tmp_path, "clicks", name, 700) for name in ("a", "b", "c")]
    expected = Counter(b"%s %d" % (name, n) for name in (b"a", b"b", b"c") for n in range(700))
    with ThreadPoolExecutor(3) as pool:
        lone = pool.submit(_read_all, log, 2100)
        grouped = pool.submit(_read_all, log, 2100, group="readers")
        in_batches = pool.submit(_read_batches, log, 2100)
        found = [Counter(reader.result(60)) for reader in (lone, grouped, in_batches)]
    _finish(*writers)
    assert found == [expected] * 3


def test_writers_of_two_partitions_do_not_disturb_each_other(
    log: EmbeddedLog, tmp_path: Path
) -> None:
    _finish(
        _start(WRITE, tmp_path, "clicks", "zero", 2000, 0),
        _start(WRITE, tmp_path, "clicks", "one", 2000, 1),
    )
    assert _values(log, "clicks", 0) == [b"zero %d" % number for number in range(2000)]
    assert _values(log, "clicks", 1) == [b"one %d" % number for number in range(2000)]
    assert log.bounds("clicks", 2).end == log.bounds("other", 0).end == 0


def test_writers_of_one_partition_take_turns_and_keep_their_order(
    log: EmbeddedLog, tmp_path: Path
) -> None:
    _finish(*(_start(WRITE, tmp_path, "other", name, 1500) for name in ("a", "b")))
    values = _values(log, "other", 0)
    for name in (b"a", b"b"):
        mine = [value for value in values if value.startswith(name)]
        assert mine == [b"%s %d" % (name, number) for number in range(1500)]


def test_a_partition_is_a_directory_with_segment_files_and_no_state_of_consumers(
    log: EmbeddedLog, tmp_path: Path
) -> None:
    with Producer(log) as producer:
        for _ in range(20):
            producer.send("clicks", b"x" * 5000, partition=0).result()
    _read_all(log, 20, group="readers")
    partitions = tmp_path / "log" / "topics" / "clicks"
    assert sorted(path.name for path in partitions.iterdir() if path.is_dir()) == ["0", "1", "2"]
    assert len(list((partitions / "0").glob("*.seg"))) > 3
    assert not [path for path in partitions.rglob("*") if "readers" in path.name]
    assert (tmp_path / "log" / "groups" / "readers").is_dir()


def test_a_written_prefix_keeps_its_checksum(log: EmbeddedLog, tmp_path: Path) -> None:
    log.append("other", 0, rows_of_bytes([b"first"] * 100))
    segment = next((tmp_path / "log" / "topics" / "other" / "0").glob("*.seg"))
    prefix = segment.read_bytes()
    for _ in range(50):
        log.append("other", 0, rows_of_bytes([b"later"] * 10))
    grown = segment.read_bytes()
    assert len(grown) > len(prefix)
    assert hashlib.sha256(grown[: len(prefix)]).digest() == hashlib.sha256(prefix).digest()


def test_a_view_dropped_and_built_again_from_offset_zero_is_the_same(log: EmbeddedLog) -> None:
    def view() -> dict[bytes, int]:
        balance: dict[bytes, int] = {}
        for number in range(3):
            rows = log.read("clicks", number, 0, ReadLimit(bytes=10**9)).rows
            for key, value in zip(rows["_key"].to_pylist(), rows["value"].to_pylist(), strict=True):
                balance[key] = balance.get(key, 0) + int(value)
        return balance

    with Producer(log) as producer:
        for number in range(1000):
            producer.send("clicks", b"%d" % (number % 13 - 6), key=b"account %d" % (number % 17))
    built = view()
    assert len(built) == 17
    assert view() == built


def test_a_topic_used_as_a_queue_loses_what_its_groups_have_consumed(log: EmbeddedLog) -> None:
    with Producer(log) as producer:
        for number in range(90):
            producer.send("clicks", b"%d" % number, partition=number % 3)
    log.commit("workers", {TopicPartition("clicks", 0): 20, TopicPartition("clicks", 1): 30})
    log.commit("audit", {TopicPartition("clicks", number): 25 for number in range(3)})
    assert log.trim("clicks", ["workers", "audit"]) == {0: 20, 1: 25, 2: 0}
    assert [log.bounds("clicks", number).start for number in range(3)] == [20, 25, 0]
    assert log.trim("clicks", []) == {0: 20, 1: 25, 2: 0}
    assert len(_read_all(log, 45)) == 45


def test_what_is_stored_does_not_add_to_the_work_of_an_append_or_a_tail_read(
    log: EmbeddedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    for name in ("read_at", "write_at", "sync"):
        monkeypatch.setattr(DiskFile, name, _counted(getattr(DiskFile, name), calls))
    work = []
    for stored in (1_000, 100_000):
        topic = f"with-{stored}"
        log.create_topic(topic)
        for _ in range(stored // 1_000):
            log.append(topic, 0, rows_of_bytes([b"x" * 20] * 1_000))
        calls.clear()
        log.append(topic, 0, rows_of_bytes([b"last"]))
        rows = log.read(topic, 0, stored, ReadLimit()).rows
        assert rows["value"].to_pylist() == [b"last"]
        work.append(Counter(calls))
    assert set(work[0]) == {"read_at", "sync", "write_at"}
    assert work[0] == work[1]


def test_the_whole_history_is_kept_unless_told_otherwise(log: EmbeddedLog) -> None:
    log.append("other", 0, rows_of_bytes([b"old"], timestamps=[0]))
    log.clean("other")
    assert _values(log, "other", 0) == [b"old"]
