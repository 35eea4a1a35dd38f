from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from penstock.spark.split import FEWEST_ROWS, Split, plan_splits


def test_each_partition_with_records_is_one_task() -> None:
    splits = plan_splits({0: 5, 1: 0, 2: 7}, {0: 10, 1: 0, 2: 9}, min_tasks=8)
    assert splits == [Split(0, 5, 10), Split(2, 7, 9)]


def test_without_records_there_is_no_task() -> None:
    assert plan_splits({0: 5}, {0: 5}) == []


def test_a_long_backlog_is_divided_among_the_tasks() -> None:
    rows = 10 * FEWEST_ROWS
    splits = plan_splits({0: 0, 1: 0}, {0: rows, 1: 10}, min_tasks=4)
    assert [split.partition for split in splits] == [0, 0, 0, 0, 1]
    assert max(split.stop - split.start for split in splits) <= rows // 4 + 1


@given(
    st.dictionaries(
        st.integers(0, 9), st.tuples(st.integers(0, 10**7), st.integers(0, 10**7)), max_size=5
    ),
    st.integers(1, 16),
)
def test_splits_cover_every_offset_once_in_order(
    ranges: dict[int, tuple[int, int]], tasks: int
) -> None:
    start = {partition: begin for partition, (begin, _) in ranges.items()}
    stop = {partition: begin + size for partition, (begin, size) in ranges.items()}
    splits = plan_splits(start, stop, min_tasks=tasks)
    for partition, begin in start.items():
        at = begin
        for split in (split for split in splits if split.partition == partition):
            assert split.start == at < split.stop
            at = split.stop
        assert at == stop[partition]
