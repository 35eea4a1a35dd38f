"""Kafka Streams: a library in any program, which shares partitions (E15, E16, E17, E19 to E21)."""

from __future__ import annotations

import re
import sqlite3
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

import penstock as ps
import penstock.streams as ks
from penstock.errors import PenstockError
from penstock.log.open import open_log
from penstock.log.producer import Producer
from tests.eventually import eventually
from tests.requirements.homes import records

pytestmark = pytest.mark.slow

PROJECT = Path(__file__).resolve().parents[2]
GOLDEN = PROJECT / "tests" / "golden" / "streams" / "wordcount.txt"
INPUT, OUTPUT = "streams-file-input", "streams-wordcount-output"
WORDS = re.compile(r"\W+")
SCRIPT = """
import sys, time
from pathlib import Path
from tests.requirements.test_kafka_streams import word_count

home, seconds = Path(sys.argv[1]), float(sys.argv[2])
props = dict(pair.split("=") for pair in sys.argv[3:])
streams = word_count(home, **{name.replace("_", "."): value for name, value in props.items()})
streams.start()
print("started", flush=True)
time.sleep(seconds)
streams.close()
print(sorted(name for name in sys.modules if name.startswith(("pyspark", "py4j"))))
"""


def word_count(home: Path, **props: object) -> ks.KafkaStreams:
    builder = ks.KStreamBuilder()
    source = builder.stream(INPUT)
    counts = (
        source.flat_map_values(lambda value: WORDS.split(value.lower()))
        .map(lambda _, word: (word, word))
        .count_by_key("Counts")
        .to_stream()
    )
    counts.to(ks.Serdes.string(), ks.Serdes.long(), OUTPUT)
    named = {"application.id": "streams-wordcount", "penstock.home": str(home)}
    return ks.KafkaStreams(builder, {**named, **props})


def send(home: Path, lines: Sequence[str], *, topic: str = INPUT, partitions: int = 1) -> None:
    with open_log(home) as log:
        if topic not in log.topics():
            log.create_topic(topic, partitions=partitions)
        with Producer(log) as producer:
            for number, line in enumerate(lines):
                # Every partition has its share.
                producer.send(topic, line.encode(), partition=number % partitions)


def changelog(home: Path) -> list[tuple[str, int]]:
    found = [(row["_key"].decode(), row["value"]) for row in records(home, OUTPUT)]
    return [(word, int.from_bytes(value, "big")) for word, value in found]


def counts(home: Path) -> dict[str, int]:
    return dict(changelog(home))


def run_until(streams: ks.KafkaStreams, home: Path, number: int) -> None:
    """Let a program run until its output has so many records."""
    with streams:
        eventually(lambda: len(records(home, OUTPUT)) >= number)


def test_e15_it_runs_in_a_plain_script_without_spark_or_any_server(tmp_path: Path) -> None:
    send(tmp_path, ["all streams lead to kafka"])
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path), "5"],  # on a machine that is busy, too
        capture_output=True,
        text=True,
        check=True,
        cwd=PROJECT,
    )
    assert ran.stdout.splitlines() == ["started", "[]"]
    assert counts(tmp_path) == dict.fromkeys(["all", "streams", "lead", "to", "kafka"], 1)


def test_e16_two_instances_share_the_partitions_and_one_takes_over_from_the_other(
    tmp_path: Path,
) -> None:
    lines = [f"word{number % 7} line{number}" for number in range(40)]
    send(tmp_path, lines, partitions=4)
    one, other = word_count(tmp_path), word_count(tmp_path)
    one.start()
    eventually(lambda: len(one.tasks) == 8)
    other.start()
    eventually(lambda: len(one.tasks) == 4 and len(other.tasks) == 4)
    assert set(one.tasks).isdisjoint(other.tasks)
    assert sorted({*one.tasks, *other.tasks}) == [f"{n}_{p}" for n in (0, 1) for p in range(4)]
    send(tmp_path, lines, partitions=4)
    eventually(lambda: len(records(tmp_path, OUTPUT)) == 160)
    other.close()
    eventually(lambda: len(one.tasks) == 8)
    send(tmp_path, lines, partitions=4)
    eventually(lambda: len(records(tmp_path, OUTPUT)) == 240)
    assert one.store("Counts").all() == counts(tmp_path)
    one.close()
    assert [count for word, count in changelog(tmp_path) if word == "word0"] == list(range(1, 19))
    by_word = defaultdict(set)
    for row in records(tmp_path, OUTPUT):
        by_word[row["_key"]].add(row["_partition"])
    assert {len(partitions) for partitions in by_word.values()} == {1}


@contextmanager
def another_process(home: Path, guarantee: str) -> Iterator[subprocess.Popen[str]]:
    """Run the program in a process of its own, until the block is left at the latest."""
    words = [str(home), "60", f"processing_guarantee={guarantee}"]
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, *words], stdout=subprocess.PIPE, text=True, cwd=PROJECT
    ) as started:
        try:
            assert started.stdout is not None
            assert started.stdout.readline() == "started\n"
            yield started
        finally:
            started.kill()


@pytest.mark.kill
@pytest.mark.parametrize("guarantee", ["at_least_once", "exactly_once"])
def test_e16_an_instance_that_is_killed_loses_nothing(tmp_path: Path, guarantee: str) -> None:
    lines = [f"word{number % 7}" for number in range(200)]
    totals = {f"word{n}": lines.count(f"word{n}") * 2 for n in range(7)}
    send(tmp_path, lines, partitions=4)
    with (
        another_process(tmp_path, guarantee) as other,
        word_count(tmp_path, **{"processing.guarantee": guarantee}) as streams,
    ):
        eventually(lambda: 0 < len(streams.tasks) < 8 and len(records(tmp_path, OUTPUT)) > 0)
        send(tmp_path, lines, partitions=4)
        other.kill()
        eventually(lambda: len(streams.tasks) == 8)
        eventually(lambda: all(counts(tmp_path).get(w, 0) >= n for w, n in totals.items()))
    if guarantee == "exactly_once":
        assert sorted(changelog(tmp_path)) == sorted(
            (word, count) for word, total in totals.items() for count in range(1, total + 1)
        )


def test_e17_the_word_count_gives_the_changelog_of_its_counts(tmp_path: Path) -> None:
    told = GOLDEN.read_text().splitlines()
    written = [line for line in told if line[0] != ">"]
    with_line = word_count(tmp_path)
    send(tmp_path, [line[2:] for line in told if line[0] == ">"])
    run_until(with_line, tmp_path, len(written))
    rows = records(tmp_path, OUTPUT)
    assert [f"{row['_key'].decode()} {row['value'].hex()}" for row in rows] == written
    assert with_line.store("Counts").all() == counts(tmp_path)


def test_e19_a_closed_application_goes_on_where_it_stopped(tmp_path: Path) -> None:
    send(tmp_path, ["hello kafka", "kafka"])
    run_until(word_count(tmp_path), tmp_path, 3)
    with open_log(tmp_path) as log:
        assert log.committed("streams-wordcount")[ps.TopicPartition(INPUT, 0)] == 2
    send(tmp_path, ["hello again"])
    streams = word_count(tmp_path)
    assert streams.state == "created"
    run_until(streams, tmp_path, 5)
    assert streams.state == "closed"
    streams.close()
    assert changelog(tmp_path) == [
        ("hello", 1),
        ("kafka", 1),
        ("kafka", 2),
        ("hello", 2),
        ("again", 1),
    ]
    with pytest.raises(PenstockError, match="STREAMS_STARTED"):
        streams.start()


def test_e19_another_application_starts_from_the_beginning(tmp_path: Path) -> None:
    send(tmp_path, ["hello"])
    run_until(word_count(tmp_path), tmp_path, 1)
    run_until(word_count(tmp_path, **{"application.id": "again"}), tmp_path, 2)
    assert changelog(tmp_path) == [("hello", 1), ("hello", 1)]


@pytest.mark.parametrize("guarantee", ["at_least_once", "exactly_once"])
def test_e19_an_application_does_not_begin_anew_where_its_memory_is_not(
    tmp_path: Path, guarantee: str
) -> None:
    send(tmp_path, ["hello"])
    how = {"processing.guarantee": guarantee}
    run_until(word_count(tmp_path, **how), tmp_path, 1)
    elsewhere = word_count(tmp_path, **how, **{"state.dir": tmp_path / "elsewhere"})
    elsewhere.start()
    eventually(lambda: elsewhere.state == "failed")
    with pytest.raises(PenstockError, match="SNAPSHOT_LOST"):
        elsewhere.close()
    assert changelog(tmp_path) == [("hello", 1)]


def test_e20_a_record_gives_its_result_in_milliseconds(tmp_path: Path) -> None:
    send(tmp_path, ["warm up"])
    waits = []
    with word_count(tmp_path), open_log(tmp_path) as log:
        eventually(lambda: len(records(tmp_path, OUTPUT)) == 2)
        at = ps.TopicPartition(OUTPUT, 0)
        with Producer(log) as producer:
            for number in range(20):
                end = log.bounds(*at).end
                producer.send(INPUT, b"word%d" % number).result()
                began = time.perf_counter()
                assert log.wait({at: end}, 10.0)
                waits.append(time.perf_counter() - began)
    # 24 ms were measured on two cores that had work for sixteen.
    assert statistics.median(waits) < 0.25


def test_e20_windows_go_by_event_time_and_late_records_are_told(tmp_path: Path) -> None:
    builder = ks.KStreamBuilder()
    table = builder.stream("views").count_by_key(
        "Views", window=ps.tumbling("1 minute"), grace="30s"
    )
    table.to_stream().to("out")
    with open_log(tmp_path) as log:
        log.create_topic("views")
        with Producer(log) as producer:
            for at in (5, 65, 50, 95, 40):
                producer.send("views", b"x", key=b"a", timestamp=at * 1000)
    props = {"application.id": "late", "penstock.home": tmp_path, "max.poll.records": 1}
    with ks.KafkaStreams(builder, props) as streams:
        eventually(lambda: len(records(tmp_path, "late.late")) == 1)
        eventually(lambda: len(records(tmp_path, "out")) == 4)
        first, second = ks.Windowed("a", 0, 60_000), ks.Windowed("a", 60_000, 120_000)
        assert streams.store("Views").all() == {first: 2, second: 2}
    assert records(tmp_path, "late.late")[0]["time"] == 40_000


def test_e21_results_go_back_to_the_log_and_to_another_system(tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / "counts.db", check_same_thread=False)
    database.execute("CREATE TABLE counts (word TEXT PRIMARY KEY, count INTEGER)")

    def upsert(word: str, count: int) -> None:
        with database:
            database.execute("INSERT OR REPLACE INTO counts VALUES (?, ?)", (word, count))

    builder = ks.KStreamBuilder()
    words = builder.stream(INPUT).flat_map_values(str.split)
    updates = words.group_by(lambda _, word: word).count("Counts").to_stream()
    updates.to(ks.Serdes.string(), ks.Serdes.long(), OUTPUT)
    updates.foreach(upsert)
    send(tmp_path, ["a b a", "a"])
    run_until(
        ks.KafkaStreams(builder, {"application.id": "both", "penstock.home": tmp_path}), tmp_path, 4
    )
    assert counts(tmp_path) == {"a": 3, "b": 1}
    assert dict(database.execute("SELECT word, count FROM counts")) == {"a": 3, "b": 1}
    database.close()


def test_a_function_that_fails_ends_nothing_but_its_record(tmp_path: Path) -> None:
    builder = ks.KStreamBuilder()
    builder.stream(INPUT).map_values(lambda value: str(1 // int(value))).to(OUTPUT)
    send(tmp_path, ["1", "0", "1"])
    props = {"application.id": "divide", "penstock.home": tmp_path}
    run_until(ks.KafkaStreams(builder, props), tmp_path, 2)
    (letter,) = records(tmp_path, "divide.dead")
    assert "ZeroDivisionError" in letter["error"]


def test_an_aggregate_that_fails_ends_the_application_with_its_error(tmp_path: Path) -> None:
    builder = ks.KStreamBuilder()
    builder.stream(INPUT).select_key(lambda *_: "all").reduce_by_key(lambda *_: 1 // 0, "All")
    send(tmp_path, ["1", "2"])
    streams = ks.KafkaStreams(builder, {"application.id": "fails", "penstock.home": tmp_path})
    streams.start()
    eventually(lambda: streams.state == "failed")
    with pytest.raises(PenstockError, match="AGGREGATE_FAILED"):
        streams.close()


def test_topics_that_are_joined_have_as_many_partitions(tmp_path: Path) -> None:
    builder = ks.KStreamBuilder()
    builder.stream("a").join(builder.table("b"), lambda one, other: one + other).to("out")
    with open_log(tmp_path) as log:
        log.create_topic("a", partitions=2)
        log.create_topic("b")
    streams = ks.KafkaStreams(builder, {"application.id": "joins", "penstock.home": tmp_path})
    with pytest.raises(PenstockError, match="STREAMS_PARTITIONS"):
        streams.start()


def test_a_stream_is_joined_with_a_table_by_every_instance(tmp_path: Path) -> None:
    builder = ks.KStreamBuilder()
    builder.stream("views").join(builder.table("users"), lambda view, user: user + view).to(OUTPUT)
    names = [f"user{number}" for number in range(8)]
    with open_log(tmp_path) as log:
        log.create_topic("views", partitions=2)
        log.create_topic("users", partitions=2)
        with Producer(log) as producer:
            for name in names:
                producer.send("users", name.upper().encode(), key=name.encode())
        streams = ks.KafkaStreams(builder, {"application.id": "joins", "penstock.home": tmp_path})
        with streams, Producer(log) as producer:
            eventually(lambda: len(streams.tasks) == 2)
            time.sleep(0.5)  # the table is known
            for name in names:
                producer.send("views", b"!", key=name.encode())
            producer.flush()
            eventually(lambda: len(records(tmp_path, OUTPUT)) == len(names))
    found = {row["_key"].decode(): row["value"].decode() for row in records(tmp_path, OUTPUT)}
    assert found == {name: f"{name.upper()}!" for name in names}
