from __future__ import annotations

from penstock.log.record import TopicPartition
from penstock.spark.batch import Batch, first_marks
from penstock.spark.program_offset import ProgramOffset
from penstock.spark.program_split import NEVER_WHOLE, Crew, ProgramSplit, plan_program_splits

BATCH = Batch(10, 0, first_marks(10))
SCANS = (("scan-a", "a"), ("scan-b", "b"))


def offset(**ends: tuple[int, ...]) -> ProgramOffset:
    positions = {
        TopicPartition(topic, number): end
        for topic, found in ends.items()
        for number, end in enumerate(found)
    }
    return ProgramOffset(positions, dict.fromkeys(ends, "id"))


def planned(
    end: ProgramOffset, tasks: int, task_rows: int = 1, whole_rows: int | None = None
) -> list[ProgramSplit]:
    start = ProgramOffset(dict.fromkeys(end.positions, 0), end.topics)
    return plan_program_splits(SCANS, start, end, BATCH, Crew(tasks, task_rows, whole_rows))


def test_partitions_share_as_many_tasks_as_there_are() -> None:
    splits = planned(offset(a=(100, 100, 100, 100), b=(0,)), 2)
    assert [[found.split.partition for found in split.ranges] for split in splits] == [
        [0, 1],
        [2, 3],
    ]
    assert [split.first for split in splits] == [True, False]


def test_a_long_backlog_of_one_partition_is_read_by_all_tasks_in_order() -> None:
    splits = planned(offset(a=(1_000_000,), b=(10,)), 2)
    pieces = [found for split in splits for found in split.ranges]
    assert [found.scan for found in pieces] == ["scan-a", "scan-a", "scan-b"]
    assert pieces[0].split.stop == pieces[1].split.start
    assert len(splits) == 2


def test_a_batch_without_rows_has_a_task_that_tells_the_time() -> None:
    end = offset(a=(0,), b=(0, 0))
    assert planned(end, 4) == [ProgramSplit(0, BATCH, end)]


def test_rows_that_are_few_for_what_is_done_with_them_share_a_task() -> None:
    few = planned(offset(a=(100, 100, 100, 100), b=(0,)), 4, 300)
    assert [[found.split.partition for found in split.ranges] for split in few] == [[0, 1, 2, 3]]
    more = planned(offset(a=(200, 200, 200, 200), b=(0,)), 4, 300)
    assert [len(split.ranges) for split in more] == [1, 2, 1]


def test_one_task_does_the_whole_of_a_batch_of_few_rows() -> None:
    (whole,) = planned(offset(a=(100, 100), b=(100,)), 2, 1, 300)
    assert whole.whole
    assert len(whole.ranges) == 3
    (told,) = planned(offset(a=(0, 0), b=(0,)), 2, 1, 300)
    assert told.whole
    assert not told.ranges


def test_a_task_that_does_not_do_the_whole_is_never_alone() -> None:
    for end, most in ((offset(a=(301,), b=(0,)), 300), (offset(a=(0,), b=(0,)), NEVER_WHOLE)):
        splits = planned(end, 1, 1_000, most)
        assert len(splits) == 2
        assert not any(split.whole for split in splits)
        assert not splits[1].ranges
