from __future__ import annotations

from datetime import timedelta

import pytest

from penstock.clock import ManualClock
from penstock.errors import OffsetError
from penstock.log.rows import rows_of_bytes
from penstock.log.topic import TopicConfig
from tests.log.embedded.clean_kit import DAY, TOPIC, a_log, files, put, roll, rows

_HOUR = 60 * 60 * 1000


def test_old_segments_go_and_the_offsets_of_the_rest_keep_their_numbers() -> None:
    clock = ManualClock(DAY)
    log = a_log(TopicConfig(retention=timedelta(hours=1)), clock=clock)
    put(log, (b"a", b"1"), (b"b", b"2"))
    roll(log)
    clock.advance(_HOUR)
    put(log, (b"c", b"3"))
    clock.advance(1)
    log.clean(TOPIC)
    assert log.bounds(TOPIC, 0) == (2, 3)
    assert rows(log, 2) == [(2, b"c", b"3")]
    with pytest.raises(OffsetError, match="OFFSET_RANGE"):
        rows(log, 1)


def test_an_expired_active_segment_is_sealed_and_goes_too() -> None:
    clock = ManualClock(DAY)
    log = a_log(TopicConfig(retention=timedelta(hours=1)), clock=clock)
    put(log, (b"a", b"1"))
    clock.advance(_HOUR + 1)
    log.clean(TOPIC)
    assert log.bounds(TOPIC, 0) == (1, 1)
    put(log, (b"b", b"2"))
    assert rows(log, 1) == [(1, b"b", b"2")]


def test_by_default_the_whole_history_stays() -> None:
    clock = ManualClock(0)
    log = a_log(TopicConfig(), clock=clock)
    put(log, (b"a", b"1"))
    roll(log)
    clock.advance(100 * 365 * DAY)
    log.clean(TOPIC, include_active=True)
    assert rows(log) == [(0, b"a", b"1")]


def test_a_topic_too_large_loses_its_oldest_segments() -> None:
    log = a_log(TopicConfig(retention_bytes=1500))
    for number in range(6):
        put(log, (b"k", b"%d" % number))
        roll(log)
    log.clean(TOPIC)
    start, end = log.bounds(TOPIC, 0)
    sizes = [segment.size for segment in log.segments(TOPIC, 0)]
    assert (start > 0, end) == (True, 6)
    assert sum(sizes) >= 1500
    assert sum(sizes[1:]) < 1500


def test_deleted_records_are_gone_at_once_and_their_segments_with_them() -> None:
    log = a_log(TopicConfig())
    for number in range(3):
        put(log, (b"k", b"%d" % number), (b"k", b"x"))
        roll(log)
    assert log.delete_records(TOPIC, 0, before_offset=3) == 3
    assert [row[0] for row in rows(log, 3)] == [3, 4, 5]
    assert log.segments(TOPIC, 0)[0].base_offset == 2
    assert log.delete_records(TOPIC, 0, before_offset=1) == 3


def test_records_beyond_the_end_cannot_be_deleted() -> None:
    log = a_log(TopicConfig())
    put(log, (b"k", b"1"))
    with pytest.raises(OffsetError, match="OFFSET_RANGE"):
        log.delete_records(TOPIC, 0, before_offset=2)


def test_an_undecided_transaction_keeps_its_segment() -> None:
    clock = ManualClock(DAY)
    log = a_log(TopicConfig(retention=timedelta(hours=1)), clock=clock)
    transaction = log.transaction("writer")
    transaction.begin()
    put(log, (b"a", b"1"))
    transaction.append(TOPIC, 0, rows_of_bytes([b"2"], keys=[b"b"]))
    roll(log)
    clock.advance(2 * _HOUR)
    log.clean(TOPIC)
    assert log.bounds(TOPIC, 0).start == 0
    transaction.commit()
    log.clean(TOPIC)
    assert log.bounds(TOPIC, 0).start > 0


def test_sealing_a_segment_has_the_partition_cleaned_beside_the_work() -> None:
    log = a_log(TopicConfig(retention_bytes=4000, segment_bytes=1000))
    for number in range(60):
        put(log, (b"k", b"%d" % number))
    log._housekeeping.wait()
    assert log.bounds(TOPIC, 0).start > 0
    assert len([name for name in files(log) if name.endswith(".seg")]) < 10


def test_an_error_while_cleaning_beside_the_work_does_not_hurt_the_appender(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    log = a_log(TopicConfig(retention_bytes=1000, segment_bytes=1000))

    def fail(*_: object) -> None:
        raise OSError(5, "broken")

    monkeypatch.setattr("penstock.log.embedded.cleaner.expired_segments", fail)
    for number in range(9):
        put(log, (b"k", b"%d" % number))
    log._housekeeping.wait()
    assert len(rows(log)) == 9
    assert "cleaning t-0 failed" in caplog.text


def test_files_of_a_segment_that_went_are_removed_and_a_kept_reader_reads_on() -> None:
    clock = ManualClock(DAY)
    log = a_log(TopicConfig(retention=timedelta(hours=1)), clock=clock)
    put(log, (b"a", b"1"))
    roll(log)
    assert rows(log) == [(0, b"a", b"1")]
    clock.advance(2 * _HOUR)
    put(log, (b"b", b"2"))
    log.clean(TOPIC)
    assert [name for name in files(log) if name.endswith(".seg")] == [f"{1:020d}.seg"]
    assert rows(log, 1) == [(1, b"b", b"2")]
