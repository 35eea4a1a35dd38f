from __future__ import annotations

from pathlib import Path

import pytest

import penstock as ps
from penstock.errors import GroupError
from penstock.inline.instance import Application, Instance
from penstock.inline.lookup import Lookup
from penstock.inline.run import InlineOptions
from penstock.inline.task import Task, TaskName
from penstock.log.embedded.membership import EmbeddedMembership
from penstock.log.open import open_log
from penstock.log.port import ReadLimit
from penstock.log.producer import Producer
from penstock.model.physical import Physical, Settings
from tests.eventually import eventually

pytestmark = pytest.mark.slow

OPTIONS = InlineOptions(snapshot_every=0.05)


def copy() -> Physical:
    app = ps.App("copy")
    app.stream("in", schema={"value": "bytes"}).to("out")
    return app.physical(Settings(buckets=1))


def send(home: Path, *values: bytes, topic: str = "in") -> None:
    with open_log(home) as log:
        if topic not in log.topics():
            log.create_topic(topic, partitions=2)
        with Producer(log) as producer:
            for number, value in enumerate(values):
                producer.send(topic, value, partition=number % 2)


def written(home: Path) -> set[bytes]:
    with open_log(home) as log:
        if "out" not in log.topics():
            return set()
        return {
            row["value"]
            for at in log.snapshot(["out"])
            for row in log.read(*at, 0, ReadLimit()).rows.to_pylist()
        }


def instance(home: Path) -> Instance:
    application = Application("copying", [copy()], options=OPTIONS)
    return Instance(application, home=home, folder=home / "tasks")


def test_a_task_reads_its_partition_alone(tmp_path: Path) -> None:
    send(tmp_path, b"zero", b"one")
    task = Task(TaskName(0, 1), copy(), tmp_path, tmp_path / "task", OPTIONS)
    assert task.start(lambda _: None)
    eventually(lambda: bool(written(tmp_path)))
    task.stop()
    task.end()
    assert written(tmp_path) == {b"one"}
    assert str(task.name) == "0_1"


def test_a_task_does_not_begin_before_its_last_holder_has_ended(tmp_path: Path) -> None:
    send(tmp_path, b"zero")
    one, other = (
        Task(TaskName(0, 0), copy(), tmp_path, tmp_path / "task", OPTIONS) for _ in range(2)
    )
    assert one.start(lambda _: None)
    assert not other.start(lambda _: None)
    one.stop()
    one.end()
    assert other.start(lambda _: None)
    other.stop()
    other.end()


def test_a_task_that_cannot_begin_leaves_its_folder_to_others(tmp_path: Path) -> None:
    task = Task(TaskName(0, 0), copy(), tmp_path, tmp_path / "task", OPTIONS)
    with pytest.raises(ps.PenstockError, match="TOPIC_MISSING"):
        task.start(lambda _: None)
    send(tmp_path, b"zero")
    again = Task(TaskName(0, 0), copy(), tmp_path, tmp_path / "task", OPTIONS)
    assert again.start(lambda _: None)
    again.stop()
    again.end()


def test_an_instance_that_lost_its_seat_takes_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(tmp_path, b"zero", b"one")
    running = instance(tmp_path)
    running.start()
    eventually(lambda: running.condition == "running" and written(tmp_path) == {b"zero", b"one"})
    beat = EmbeddedMembership.heartbeat
    lost: list[object] = []

    def fenced(seat: EmbeddedMembership) -> object:
        if not lost:
            lost.append(seat)
        if seat is lost[0]:
            raise GroupError("GROUP_FENCED", "the seat is lost", hint="Join again.")
        return beat(seat)

    monkeypatch.setattr(EmbeddedMembership, "heartbeat", fenced)
    eventually(lambda: bool(lost))
    send(tmp_path, b"two", b"three")
    eventually(lambda: written(tmp_path) == {b"zero", b"one", b"two", b"three"})
    running.close()
    assert running.condition == "closed"


def test_what_cannot_be_started_leaves_nothing_behind(tmp_path: Path) -> None:
    running = instance(tmp_path)
    with pytest.raises(ps.PenstockError, match="TOPIC_MISSING"):
        running.start()
    running.close()
    assert running.condition == "created"


def test_an_error_of_the_group_ends_the_instance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(tmp_path, b"zero")
    running = instance(tmp_path)
    running.start()
    eventually(lambda: running.condition == "running")

    def broken(_: EmbeddedMembership) -> None:
        raise GroupError("GROUP_BROKEN", "the disk is gone", hint="Mend it.")

    monkeypatch.setattr(EmbeddedMembership, "heartbeat", broken)
    eventually(lambda: running.condition == "failed")
    with pytest.raises(GroupError, match="GROUP_BROKEN"):
        running.close()


def test_a_topic_is_asked_for_the_last_value_of_each_key(tmp_path: Path) -> None:
    lookup = Lookup(tmp_path, "table")
    assert lookup.rows() == {}
    with open_log(tmp_path) as log:
        log.create_topic("table", partitions=2)
        with Producer(log) as producer:
            for key, value in ((b"a", b"1"), (b"b", b"2"), (b"a", b"3"), (b"b", None)):
                producer.send("table", value, key=key)
            producer.flush()
            assert lookup.rows() == {b"a": b"3"}
            producer.send("table", b"4", key=b"b").result()
            assert lookup.get(b"b") == b"4"
            assert lookup.get(b"c") is None
    lookup.close()
