"""At least once, from a topic to a topic."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from penstock.clock import ManualClock
from penstock.errors import ModelError, RunError
from penstock.log.consumer import Consumer
from penstock.log.open import open_log
from penstock.log.producer import Producer
from penstock.log.record import TopicPartition
from penstock.topology import (
    Bolt,
    BoltCollector,
    Config,
    LogBolt,
    LogSpout,
    TaskContext,
    Topology,
    TopologyBuilder,
    TopologyRun,
    Tuple,
    quiet,
    run_topology,
)
from tests.inline.topology.exclaim import CallBolt

PROJECT = Path(__file__).resolve().parents[3]
TOTAL = 300
CHILD = """
import sys
from tests.inline.topology.test_log import run_and_die
run_and_die(sys.argv[1], int(sys.argv[2]))
"""


def filled(home: Path, count: int = TOTAL, partitions: int = 3) -> None:
    with open_log(home) as log:
        log.create_topic("in", partitions=partitions)
        log.create_topic("out")
        with Producer(log) as producer:
            for number in range(count):
                producer.send("in", b"%d" % number, partition=number % partitions)


def written(home: Path) -> Counter[int]:
    with open_log(home) as log, Consumer(log, "out") as consumer:
        found: Counter[int] = Counter()
        while records := consumer.poll(0.05):
            found.update(int(record.value) for record in records)  # type: ignore[arg-type]
        return found


def committed(home: Path) -> dict[int, int]:
    with open_log(home) as log:
        return {place.partition: offset for place, offset in log.committed("copy").items()}


def copying(home: Path, middle: Bolt, most_tries: int | None = None) -> Topology:
    builder = TopologyBuilder()
    spout = LogSpout("in", group="copy", home=home, commit_every=10, most_tries=most_tries)
    builder.set_spout("read", spout, 2)
    builder.set_bolt("middle", middle, 2).shuffle_grouping("read")
    builder.set_bolt("write", LogBolt("out", home=home), 2).shuffle_grouping("middle")
    return builder.create_topology()


def forward(received: Tuple, collector: BoltCollector, _: TaskContext) -> None:
    collector.emit((received["value"],), anchors=received)
    collector.ack(received)


def passing() -> Bolt:
    return CallBolt(forward, ("default", "value"))


@pytest.mark.parametrize("threads", [False, True])
def test_every_record_is_copied_and_committed(tmp_path: Path, *, threads: bool) -> None:
    filled(tmp_path)
    run_topology(copying(tmp_path, passing()), Config(threads=threads), until=quiet)
    assert written(tmp_path) == Counter(range(TOTAL))
    assert committed(tmp_path) == {0: 100, 1: 100, 2: 100}
    run_topology(copying(tmp_path, passing()), until=quiet)
    assert written(tmp_path) == Counter(range(TOTAL))


def test_the_first_record_that_is_not_done_is_where_the_group_stays(tmp_path: Path) -> None:
    def but_the_twelfth(received: Tuple, collector: BoltCollector, context: TaskContext) -> None:
        if (received["partition"], received["offset"]) != (1, 12):
            forward(received, collector, context)

    filled(tmp_path)
    topology = copying(tmp_path, CallBolt(but_the_twelfth, ("default", "value")))
    with TopologyRun(topology, clock=ManualClock(0)) as run:
        run.settle()
        assert run.pending == 1
    assert committed(tmp_path) == {0: 100, 1: 12, 2: 100}
    run_topology(copying(tmp_path, passing()), until=quiet)
    found = written(tmp_path)
    assert set(found) == set(range(TOTAL))
    assert found[12 * 3 + 1] == 1
    assert found[13 * 3 + 1] == 2


def test_what_fails_is_read_again_and_only_that(tmp_path: Path) -> None:
    tries: Counter[object] = Counter()

    def third_time(received: Tuple, collector: BoltCollector, context: TaskContext) -> None:
        value = int(received["value"])  # type: ignore[call-overload]
        tries[value] += 1
        if value % 7 == 0 and tries[value] < 3:
            collector.fail(received)
        else:
            forward(received, collector, context)

    filled(tmp_path)
    topology = copying(tmp_path, CallBolt(third_time, ("default", "value")))
    run_topology(topology, until=quiet)
    assert written(tmp_path) == Counter(range(TOTAL))
    assert tries == {number: 3 if number % 7 == 0 else 1 for number in range(TOTAL)}


def test_a_record_that_fails_too_often_stops_the_run_and_stays(tmp_path: Path) -> None:
    def never(received: Tuple, collector: BoltCollector, context: TaskContext) -> None:
        if received["value"] == b"5":
            collector.fail(received)
        else:
            forward(received, collector, context)

    filled(tmp_path, 9)
    topology = copying(tmp_path, CallBolt(never, ("default", "value")), most_tries=3)
    with pytest.raises(RunError, match='record 1 of partition 2 of "in" failed 3 times') as raised:
        run_topology(topology, until=quiet)
    assert raised.value.code == "SPOUT_GAVE_UP"
    assert committed(tmp_path)[2] == 1


def test_a_value_that_is_no_bytes_is_refused(tmp_path: Path) -> None:
    def number(received: Tuple, collector: BoltCollector, _: TaskContext) -> None:
        collector.emit((7,), anchors=received)

    filled(tmp_path, 1)
    with pytest.raises(ModelError) as raised:
        run_topology(copying(tmp_path, CallBolt(number, ("default", "value"))), until=quiet)
    assert raised.value.code == "TUPLE_BYTES"


def test_text_and_keys_are_written_too(tmp_path: Path) -> None:
    def keyed(received: Tuple, collector: BoltCollector, _: TaskContext) -> None:
        collector.emit((f"{received['offset']}", "k"), anchors=received)
        collector.ack(received)

    filled(tmp_path, 3, partitions=1)
    builder = TopologyBuilder()
    builder.set_spout("read", LogSpout("in", group="copy", home=tmp_path))
    builder.set_bolt("key", CallBolt(keyed, ("default", "value", "key"))).shuffle_grouping("read")
    write = LogBolt("out", home=tmp_path, key="key", batch=2)
    builder.set_bolt("write", write).shuffle_grouping("key")
    run_topology(builder.create_topology(), until=quiet)
    with open_log(tmp_path) as log, Consumer(log, "out") as consumer:
        assert [(r.key, r.value) for r in consumer.poll()] == [(b"k", b"%d" % n) for n in range(3)]
        assert log.committed("copy") == {TopicPartition("in", 0): 3}


def run_and_die(home: str, after: int) -> None:
    """Copy, and be killed in the middle of a tuple."""
    seen = 0

    def die(received: Tuple, collector: BoltCollector, context: TaskContext) -> None:
        nonlocal seen
        seen += 1
        if seen == after:
            os.kill(os.getpid(), signal.SIGKILL)
        forward(received, collector, context)

    topology = copying(Path(home), CallBolt(die, ("default", "value")))
    run_topology(topology, Config(max_spout_pending=20), until=quiet)


@pytest.mark.kill
def test_nothing_is_missing_after_kills_and_only_what_was_under_way_comes_twice(
    tmp_path: Path,
) -> None:
    filled(tmp_path)
    for after in (90, 120):
        command = [sys.executable, "-c", CHILD, str(tmp_path), str(after)]
        died = subprocess.run(command, cwd=PROJECT, check=False, capture_output=True, text=True)
        assert died.returncode == -signal.SIGKILL, died.stderr
        assert 0 < sum(committed(tmp_path).values()) < TOTAL
    run_topology(copying(tmp_path, passing()), until=quiet)
    found = written(tmp_path)
    assert set(found) == set(range(TOTAL))
    # Under way or not yet committed at a kill: two tasks with 20 tuples and 10 acks each.
    assert sum(found.values()) - TOTAL <= 2 * 2 * 30
