from __future__ import annotations

from penstock.jobs.job_log import Entry, JobLog
from penstock.log.embedded.memory import MemoryStorage
from tests.jobs.records import JOB, a_store


def test_lines_are_read_as_they_were_written() -> None:
    log = JobLog(MemoryStorage(), "shop-1")
    log.write(1, "info", "running")
    log.write(2, "error", "it broke\nMend it.")
    assert list(log.entries()) == [
        Entry(1, "info", "running"),
        Entry(2, "error", "it broke\nMend it."),
    ]
    log.remove()
    assert list(log.entries()) == []


def test_a_log_that_grows_large_keeps_its_latest_lines() -> None:
    storage = MemoryStorage()
    log = JobLog(storage, "shop-1", largest=500)
    for at in range(100):
        log.write(at, "info", "x" * 20)
    kept = [entry.at for entry in log.entries()]
    assert kept == list(range(kept[0], 100))
    assert 5 < len(kept) < 30
    assert sorted(storage.list("")) == ["shop-1.log", "shop-1.log.1"]


def test_a_torn_line_is_left_out() -> None:
    storage = MemoryStorage()
    log = JobLog(storage, "shop-1")
    log.write(1, "info", "running")
    data = storage.read("shop-1.log")
    storage.replace("shop-1.log", data + b'{"at": 2, "lev')
    assert [entry.at for entry in log.entries()] == [1]


def test_what_is_forgotten_of_a_run_is_its_log_too() -> None:
    store = a_store()
    job, lock = store.register(JOB)
    lock.close()
    store.log(job.id).write(1, "info", "running")
    store.forget(job.id)
    assert list(store.log(job.id).entries()) == []
