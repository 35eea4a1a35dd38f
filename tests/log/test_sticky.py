from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import TopicError
from penstock.log.sticky import StickyChoice


def a_choice(*, batch_bytes: int = 100, draw: Callable[[], int] | None = None) -> StickyChoice:
    seeded = random.Random(7)
    return StickyChoice(batch_bytes=batch_bytes, draw=draw or (lambda: seeded.getrandbits(31)))


def test_records_stay_together_until_the_batch_is_full() -> None:
    choice = a_choice(batch_bytes=3)
    chosen = choice.spread(np.ones(9, dtype=np.int64), 4)
    batches = chosen.reshape(3, 3)
    assert all(len(set(batch)) == 1 for batch in batches.tolist())
    assert all(before != after for before, after in itertools.pairwise(batches[:, 0]))


@given(
    sizes=st.lists(st.integers(0, 40), max_size=60),
    cuts=st.lists(st.integers(0, 60), max_size=4),
    partitions=st.integers(1, 5),
)
def test_any_split_into_flushes_chooses_the_same(
    sizes: list[int], cuts: list[int], partitions: int
) -> None:
    whole = a_choice().spread(np.array(sizes, dtype=np.int64), partitions).tolist()
    split = a_choice()
    parts = np.split(np.array(sizes, dtype=np.int64), sorted(cuts))
    assert [one for part in parts for one in split.spread(part, partitions).tolist()] == whole
    single = a_choice()
    one_by_one = []
    for size in sizes:
        one_by_one.append(single.current(partitions))
        single.add(size, partitions)
    assert one_by_one == whole


def test_bytes_are_spread_evenly() -> None:
    chosen = a_choice(batch_bytes=1000).spread(np.full(200_000, 100, dtype=np.int64), 4)
    counts = Counter(chosen.tolist())
    assert all(abs(count - 50_000) < 2_500 for count in counts.values())


def test_an_unavailable_partition_is_left() -> None:
    choice = a_choice()
    before = choice.current(10)
    rest = [partition for partition in range(10) if partition != before]
    assert choice.current(10, rest) in rest


def test_without_an_available_partition_any_is_chosen() -> None:
    choice = a_choice()
    assert {choice.pick(3, [], avoid=1) for _ in range(200)} == {0, 1, 2}


def test_the_only_available_partition_is_chosen_again() -> None:
    assert {a_choice().pick(3, [1], avoid=1) for _ in range(50)} == {1}


def test_a_new_batch_moves_on_once() -> None:
    choice = a_choice()
    before = choice.current(10)
    choice.on_new_batch(before, 10)
    after = choice.current(10)
    assert after != before
    choice.on_new_batch(before, 10)
    assert choice.current(10) == after


def test_less_filled_partitions_are_chosen_more_often() -> None:
    choice = a_choice(draw=itertools.count().__next__)
    choice.weigh({0: 0, 1: 3, 2: 1}, 3)
    assert Counter(choice.pick(3) for _ in range(8)) == {0: 4, 1: 1, 2: 3}


def test_a_partition_without_a_queue_is_not_chosen() -> None:
    choice = a_choice()
    choice.weigh({0: 5, 2: 5}, 3)
    assert {choice.pick(3) for _ in range(100)} == {0, 2}
    assert {choice.pick(3, [1, 2]) for _ in range(100)} == {2}


@pytest.mark.parametrize("queued", [None, {}, {0: 4, 1: 4, 2: 4}])
def test_equal_queues_give_no_preference(queued: dict[int, int] | None) -> None:
    choice = a_choice()
    choice.weigh({0: 0, 1: 1000, 2: 1000}, 3)
    choice.weigh(queued, 3)
    assert all(choice.pick(3, avoid=0) != 0 for _ in range(50))


def test_a_batch_that_holds_no_record_is_refused() -> None:
    with pytest.raises(TopicError, match="STICKY_BATCH_SIZE"):
        a_choice(batch_bytes=0)


def test_runs_take_records_of_one_size_in_their_order_and_move_on_when_full() -> None:
    choice = a_choice(batch_bytes=100)
    runs = [*choice.runs(25, 250, 2)]
    assert [run for _, run in runs] == [slice(0, 10), slice(10, 20), slice(20, 25)]
    chosen = [partition for partition, _ in runs]
    assert all(one != other for one, other in itertools.pairwise(chosen))
    # What was begun goes on: five more fill the batch.
    ((same, first), (other, _)) = choice.runs(8, 80, 2)
    assert (same, first, other) == (chosen[-1], slice(0, 5), chosen[-2])
