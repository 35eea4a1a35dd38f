from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from penstock.errors import GroupError, LogError, StorageError, TransactionError
from penstock.log.consumer import Consumer
from penstock.log.embedded.home import open_home
from penstock.log.embedded.nodes import NodeAnnouncement
from penstock.log.open import open_log
from penstock.log.port import Appended, Bounds, ReadLimit, WriterStamp
from penstock.log.producer import Producer
from penstock.log.record import TopicPartition
from penstock.log.remote.client import RemoteLog
from penstock.log.remote.server import LogServer
from penstock.log.remote.wire import Message, receive_hello, send_message
from penstock.log.rows import rows_of_bytes
from penstock.log.topic import TopicConfig
from tests.log.channel.kit import eventually
from tests.log.remote.kit import Served, served

pytestmark = pytest.mark.slow

CLICKS = TopicPartition("clicks", 0)
ROWS = rows_of_bytes([b"x"])


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path) as running:
        running.log.create_topic("clicks", config=TopicConfig(fsync="os"))
        yield running


def cut_all(server: LogServer) -> None:
    """Break every connection of a server, as a network does."""
    for session in list(server._sessions):
        session._connection.shutdown(socket.SHUT_RDWR)


def cut_once(here: Served, monkeypatch: pytest.MonkeyPatch, method: str) -> list[str]:
    """Let the connection break when a method was done and is not answered yet; give its calls."""
    plain: Callable[..., object] = getattr(here.embedded, method)
    calls: list[str] = []

    def then_cut(*arguments: object, **settings: object) -> object:
        done = plain(*arguments, **settings)
        calls.append(method)
        if len(calls) == 1:
            cut_all(here.server)
        return done

    monkeypatch.setattr(here.embedded, method, then_cut)
    return calls


def test_a_log_is_opened_by_the_address_of_its_server(
    here: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PENSTOCK_HOME", str(here.home))
    with open_log(here.server.info.address) as log:
        assert isinstance(log, RemoteLog)
        assert log.topics() == ("clicks",)


def test_producer_and_consumer_work_on_it_unchanged(here: Served) -> None:
    here.log.create_topic("orders", partitions=3, config=TopicConfig(fsync="os"))
    with Consumer(here.log, "orders", group="billing") as consumer:
        with Producer(here.log) as producer:
            for number in range(3000):
                producer.send("orders", b"%d" % number, key=b"%d" % (number % 10))
        records = list(consumer.records(idle_timeout=timedelta(seconds=1)))
    assert sorted(int(record.value or b"") for record in records) == list(range(3000))  # type: ignore[arg-type]
    assert len({record.partition for record in records}) == 3
    assert sum(here.embedded.committed("billing").values()) == 3000


def test_a_dropped_idle_connection_is_replaced_without_a_word(here: Served) -> None:
    cut_all(here.server)
    assert here.log.append("clicks", 0, ROWS) == Appended(0, 0)
    assert here.embedded.bounds("clicks", 0) == Bounds(0, 1)


def test_a_read_whose_connection_breaks_is_asked_again(
    here: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = cut_once(here, monkeypatch, "bounds")
    assert here.log.bounds("clicks", 0) == Bounds(0, 0)
    assert len(calls) == 2


def test_an_append_is_not_repeated_blindly(here: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = cut_once(here, monkeypatch, "append")
    with pytest.raises(StorageError, match="LOG_UNREACHABLE") as caught:
        here.log.append("clicks", 0, ROWS)
    assert "may have been done" in caught.value.hint
    assert len(calls) == 1
    assert here.log.bounds("clicks", 0) == Bounds(0, 1)


def test_an_append_with_a_stamp_is_repeated_and_recognised(
    here: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = cut_once(here, monkeypatch, "append")
    done = here.log.append("clicks", 0, ROWS, stamp=WriterStamp(7, 0, 0))
    assert done == Appended(0, 0, duplicate=True)
    assert len(calls) == 2
    assert here.log.bounds("clicks", 0) == Bounds(0, 1)


def test_a_transaction_whose_connection_breaks_is_aborted_and_can_be_taken_over(
    here: Served,
) -> None:
    transaction = here.log.transaction("job")
    transaction.begin()
    transaction.append("clicks", 0, ROWS)
    cut_all(here.server)
    for _ in range(2):
        with pytest.raises(StorageError, match="LOG_UNREACHABLE"):
            transaction.commit()
    transaction.close()
    with here.log.transaction("job") as again:
        again.begin()
        again.append("clicks", 0, ROWS)
        again.commit("done")
    assert here.log.transaction("job").note == "done"
    rows = here.embedded.read("clicks", 0, 0, ReadLimit()).rows
    assert rows["_offset"].to_pylist() != [0]
    assert rows.num_rows == 1


def test_the_note_tells_whether_a_commit_without_an_answer_was_done(
    here: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    transaction = here.log.transaction("job")
    transaction.begin()
    transaction.append("clicks", 0, ROWS)
    cut_once(here, monkeypatch, "mark")
    with pytest.raises(StorageError, match="LOG_UNREACHABLE"):
        transaction.commit("batch 1")
    transaction.close()
    assert here.log.transaction("job").note == "batch 1"


def test_a_closed_transaction_takes_nothing_more(here: Served) -> None:
    transaction = here.log.transaction("job")
    transaction.close()
    transaction.close()
    with pytest.raises(TransactionError, match="TRANSACTION_NOT_OPEN"):
        transaction.begin()


def test_a_seat_whose_connection_breaks_is_lost(here: Served) -> None:
    seat = here.log.join("readers", ["clicks"])
    seat.heartbeat()
    assert seat.owned == {CLICKS}
    cut_all(here.server)
    with pytest.raises(GroupError, match="GROUP_FENCED"):
        seat.commit({CLICKS: 1})
    assert seat.owned == frozenset()
    assert seat.wait(30)
    seat.leave()
    assert eventually(lambda: not here.log.group("readers").members)
    assert here.log.committed("readers") == {}


def test_a_consumer_takes_a_new_seat_after_its_connection_broke(here: Served) -> None:
    with Consumer(here.log, "clicks", group="readers") as consumer:
        here.log.append("clicks", 0, rows_of_bytes([b"1", b"2"]))
        found = [record.value for record in consumer.records(max_records=2)]
        consumer.commit()
        cut_all(here.server)
        here.log.append("clicks", 0, rows_of_bytes([b"3"]))
        found += [record.value for record in consumer.records(max_records=1)]
    assert found == [b"1", b"2", b"3"]


def test_a_member_may_commit_while_another_of_its_threads_waits(here: Served) -> None:
    seat = here.log.join("readers", ["clicks"])
    seat.heartbeat()
    seat.wait(0)
    waiter = threading.Thread(target=seat.wait, args=(3600,), daemon=True)
    waiter.start()
    begun = time.monotonic()
    seat.commit({CLICKS: 0})
    assert time.monotonic() - begun < 10
    seat.leave()
    here.log.close()
    waiter.join(20)
    assert not waiter.is_alive()


def test_threads_share_one_log(here: Served) -> None:
    done: list[Appended] = []

    def work() -> None:
        for _ in range(20):
            mine = here.log.append("clicks", 0, ROWS)
            assert here.log.bounds("clicks", 0).end > mine.last_offset
            done.append(mine)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(item.base_offset for item in done) == list(range(160))
    assert len(here.log._exchange._idle) <= 9


def test_an_interrupted_question_does_not_leave_its_answer_to_the_next(here: Served) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt):
            here.log.wait({CLICKS: 0}, 3600)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert here.log.bounds("clicks", 0) == Bounds(0, 0)


def test_a_server_that_does_not_answer_counts_as_gone(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        address = f"tcp://127.0.0.1:{deaf.getsockname()[1]}"
        node = NodeAnnouncement(tmp_path, address, bytes(32))
        answering = threading.Thread(target=_greet_only, args=(deaf,), daemon=True)
        answering.start()
        log = RemoteLog(address, home=tmp_path, patience=timedelta(milliseconds=50))
        with log, pytest.raises(StorageError, match=r"LOG_UNREACHABLE.*timed out"):
            log.append("clicks", 0, ROWS)
        answering.join()
        node.withdraw()


def _greet_only(listener: socket.socket) -> None:
    connection, _ = listener.accept()
    with connection:
        receive_hello(connection, bytes(32))
        send_message(connection, Message({"result": None}))
        while connection.recv(4096):
            pass


def test_no_server_is_a_coded_error_that_says_how_to_start_one(tmp_path: Path) -> None:
    with RemoteLog("tcp://127.0.0.1:9", home=tmp_path) as log:
        with pytest.raises(StorageError, match="LOG_UNREACHABLE") as caught:
            log.topics()
        assert "penstock log serve" in caught.value.hint


def test_a_closed_log_takes_no_more_questions(here: Served) -> None:
    here.log.close()
    here.log.close()
    with pytest.raises(LogError, match="LOG_CLOSED"):
        here.log.topics()


def test_closing_ends_the_wait_of_another_thread(here: Served) -> None:
    refusals: list[str] = []

    def wait() -> None:
        try:
            here.log.wait({CLICKS: 0}, 3600)
        except LogError as refusal:
            refusals.append(refusal.code)

    waiter = threading.Thread(target=wait)
    waiter.start()
    assert eventually(lambda: not here.log._exchange._idle)
    here.log.close()
    waiter.join(20)
    assert refusals == ["LOG_CLOSED"]


def test_a_forked_child_has_connections_of_its_own(here: Served) -> None:
    transaction = here.log.transaction("job")
    transaction.begin()
    child = os.fork()
    if not child:
        code = 1
        try:
            here.log.append("clicks", 0, ROWS)
            transaction.append("clicks", 0, ROWS)
        except StorageError as failure:
            code = 0 if failure.code == "LOG_UNREACHABLE" else 2
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    transaction.append("clicks", 0, ROWS)
    transaction.commit()
    assert here.log.read("clicks", 0, 0, ReadLimit()).rows.num_rows == 2


def test_large_batches_go_both_ways(here: Served) -> None:
    many = pa.table({"value": pa.array([b"%08d" % n * 100 for n in range(30_000)], pa.binary())})
    here.log.append("clicks", 0, many)
    offset, found = 0, []
    while offset < 30_000:
        chunk = here.log.read("clicks", 0, offset, ReadLimit())
        found.append(chunk.rows["value"])
        offset = chunk.next_offset
    assert pa.chunked_array([part for column in found for part in column.chunks]).equals(
        many["value"]
    )


def test_a_server_started_anew_on_its_port_is_found_again(tmp_path: Path) -> None:
    with open_home(tmp_path) as embedded:
        with LogServer(embedded, tmp_path) as first:
            log = RemoteLog(first.info.address, home=tmp_path)
            log.create_topic("clicks")
        with pytest.raises(StorageError, match="LOG_UNREACHABLE"):
            log.append("clicks", 0, ROWS)
        port = int(first.info.address.rpartition(":")[2])
        with LogServer(embedded, tmp_path, port=port), log:
            assert log.append("clicks", 0, ROWS) == Appended(0, 0)
