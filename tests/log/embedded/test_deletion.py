"""A topic that goes while it is used: whoever uses it hears that, and not that a disk failed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from penstock.errors import StorageError, TopicError
from penstock.log.embedded.disk import DiskStorage
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.embedded.manifest import manifest_file
from penstock.log.port import ReadLimit
from penstock.log.record import TopicPartition
from penstock.log.rows import rows_of_bytes
from penstock.log.storage import Watch

PLACE = TopicPartition("clicks", 0)
ACTS: dict[str, Callable[[EmbeddedLog], object]] = {
    "read": lambda log: log.read(*PLACE, 0, ReadLimit()),
    "bounds": lambda log: log.bounds(*PLACE),
    "offset at a time": lambda log: log.offset_at_time(*PLACE, 0),
    "wait": lambda log: log.wait({PLACE: 1}, 0.01),
    "snapshot": lambda log: log._look_at([PLACE]),
    "segments": lambda log: log.segments(*PLACE),
    "append": lambda log: log.append(*PLACE, rows_of_bytes([b"never acknowledged"])),
}
# An append reads no list.
READS = sorted(ACTS.keys() - {"append"})


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EmbeddedLog]:
    with EmbeddedLog(DiskStorage(tmp_path)) as opened:
        opened.create_topic("clicks")
        opened.append(*PLACE, rows_of_bytes([b"x"]))
        # A partition of which nothing but the head is open.
        opened._forget("clicks")
        opened.partition(*PLACE)
        yield opened


@pytest.mark.parametrize("act", ACTS)
def test_a_topic_that_is_being_deleted_is_missing(log: EmbeddedLog, act: str) -> None:
    # Out of sight, and no head says so yet.
    log._catalog.retire("clicks")
    with pytest.raises(TopicError, match="TOPIC_MISSING"):
        ACTS[act](log)


def test_a_topic_deleted_before_it_can_be_watched_is_missing(
    log: EmbeddedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert log.bounds(*PLACE) == (0, 1)
    watch = DiskStorage.watch

    def watch_late(storage: DiskStorage, paths: Iterable[str]) -> Watch:
        log._catalog.retire("clicks")
        return watch(storage, paths)

    monkeypatch.setattr(DiskStorage, "watch", watch_late)
    with pytest.raises(TopicError, match="TOPIC_MISSING"):
        log.wait({PLACE: 1}, 10)


@pytest.mark.parametrize("act", READS)
def test_a_topic_made_anew_meanwhile_is_used_in_its_place(
    log: EmbeddedLog, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    forget, config, made = log._forget, log.topic("clicks").config, ["second", "first"]

    def made_anew(*topics: str) -> None:
        forget(*topics)
        log._catalog.create("clicks", partitions=1, schema=None, config=config)
        # The first of them is gone as soon as it is open.
        if made.pop() == "first":
            log.partition(*PLACE)
            log._catalog.retire("clicks")

    monkeypatch.setattr(log, "_forget", made_anew)
    log._catalog.retire("clicks")
    ACTS[act](log)
    assert not made
    assert log.bounds(*PLACE) == (0, 0)


@pytest.mark.parametrize("act", READS)
def test_a_file_lost_from_a_topic_that_is_there_is_a_failure(
    log: EmbeddedLog, tmp_path: Path, act: str
) -> None:
    (tmp_path / "topics/clicks/0" / manifest_file(0)).unlink()
    with pytest.raises(StorageError, match="STORAGE_FAILED"):
        ACTS[act](log)
