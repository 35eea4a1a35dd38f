from __future__ import annotations

from datetime import timedelta

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.log.embedded.log import EmbeddedLog
from penstock.spark.admission import NO_LIMITS, BatchLimits, admit, share_rows


@given(
    st.dictionaries(st.integers(0, 20), st.integers(1, 10**12), min_size=1), st.integers(1, 10**13)
)
def test_shares_add_up_and_exceed_neither_limit_nor_backlog(
    backlog: dict[int, int], most: int
) -> None:
    shares = share_rows(backlog, most)
    assert sum(shares.values()) == min(most, sum(backlog.values()))
    assert all(0 <= shares[partition] <= size for partition, size in backlog.items())
    if most >= len(backlog):
        assert all(share >= 1 for share in shares.values())


def test_shares_are_in_proportion_to_the_backlogs() -> None:
    assert share_rows({0: 900, 1: 90, 2: 10}, 100) == {0: 90, 1: 9, 2: 1}


@pytest.fixture
def timed(log: EmbeddedLog) -> EmbeddedLog:
    """Partition 0 has a record each second, partition 1 each ten."""
    log.create_topic("t", partitions=2)
    for partition, step in ((0, 1000), (1, 10_000)):
        times = [step * n for n in range(100)]
        log.append("t", partition, pa.table({"_timestamp": times, "value": [b"v" * 100] * 100}))
    return log


START = {0: 0, 1: 0}
END = {0: 100, 1: 100}


def test_without_limits_a_batch_takes_all(timed: EmbeddedLog) -> None:
    assert admit(timed, "t", START, END, NO_LIMITS) == END


def test_a_span_cuts_all_partitions_at_one_time(timed: EmbeddedLog) -> None:
    limits = BatchLimits(span=timedelta(seconds=20))
    first = admit(timed, "t", START, END, limits)
    assert first == {0: 20, 1: 2}
    assert admit(timed, "t", first, END, limits) == {0: 40, 1: 4}
    # Partition 0 is at its end: the clock of the batch is that of partition 1.
    assert admit(timed, "t", {0: 100, 1: 10}, END, limits) == {0: 100, 1: 12}


def test_a_partition_ahead_of_the_others_waits_for_them(timed: EmbeddedLog) -> None:
    limits = BatchLimits(span=timedelta(seconds=20))
    assert admit(timed, "t", {0: 0, 1: 50}, END, limits) == {0: 20, 1: 50}


def test_a_record_ahead_of_its_time_does_not_stop_the_query(log: EmbeddedLog) -> None:
    log.create_topic("t")
    times = [0, 99_000, 2000, 3000, 4000, 5000]
    log.append("t", 0, pa.table({"_timestamp": times, "value": [b""] * 6}))
    limits = BatchLimits(span=timedelta(seconds=2))
    at, seen = {0: 0}, []
    while at[0] < 6:
        at = admit(log, "t", at, {0: 6}, limits)
        seen.append(at[0])
    assert seen == [1, 6]
    assert admit(log, "t", {0: 2}, {0: 6}, limits) == {0: 4}


def test_bytes_are_rows_by_their_mean_size(timed: EmbeddedLog) -> None:
    end = admit(timed, "t", START, END, BatchLimits(bytes=5000))
    assert 20 <= sum(end.values()) <= 50
    assert sum(admit(timed, "t", START, END, BatchLimits(bytes=1)).values()) == 1


def test_all_limits_hold_together(timed: EmbeddedLog) -> None:
    limits = BatchLimits(rows=11, bytes=10**9, span=timedelta(seconds=20))
    assert admit(timed, "t", START, END, limits) == {0: 10, 1: 1}


def test_gaps_alone_are_passed_over(log: EmbeddedLog) -> None:
    log.create_topic("t")
    with log.transaction("x") as transaction:
        transaction.begin()
        transaction.append("t", 0, pa.table({"value": [b""] * 5}))
        transaction.abort()
    end = log.bounds("t", 0).end
    assert end > 0
    limits = BatchLimits(rows=10**6, span=timedelta(seconds=1))
    assert admit(log, "t", {0: 0}, {0: end}, limits) == {0: end}
