from __future__ import annotations

import polars as pl

from penstock.kernel.fold.arrival import beyond, continued, size_of
from penstock.kernel.port import Frame


def part(*numbers: int | None) -> list[Frame]:
    column = pl.Series(numbers, dtype=pl.Int64)
    return [pl.DataFrame({"_a0_seq": column}), pl.DataFrame({"my_seq": [1], "_seq": [numbers[0]]})]


def numbers(frames: list[Frame]) -> list[int | None]:
    return frames[0]["_a0_seq"].to_list()


def test_numbers_go_on_from_part_to_part() -> None:
    found = continued([part(0, 4), part(0, None, 1), part(0)])
    assert [numbers(frames) for frames in found] == [[0, 4], [5, None, 6], [7]]
    assert [frames[1].rows() for frames in found] == [[(1, 0)], [(1, 5)], [(1, 7)]]


def test_a_part_that_is_later_already_keeps_its_numbers() -> None:
    assert [numbers(frames) for frames in continued([part(0, 4), part(9), part(9)])] == [
        [0, 4],
        [9],
        [19],
    ]
    assert numbers(beyond(part(2, 3), 2)) == [2, 3]
    assert numbers(beyond(part(1, 3), 2)) == [3, 5]
    assert size_of(part(1, 3)) == 4
    assert size_of([pl.DataFrame({"my_seq": [1]})]) == 0


def test_numbers_that_run_out_are_given_anew() -> None:
    high = 2**61
    found = continued([part(7, high, None), part(high, high + 5)])
    assert [numbers(frames) for frames in found] == [[0, 1, None], [2, 3]]
