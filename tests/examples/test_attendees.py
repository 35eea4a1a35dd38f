from __future__ import annotations

from itertools import accumulate

from examples.attendees import GROUPS, ROOM, moments


def test_the_total_is_right_after_each_tuple_though_one_number_is_held() -> None:
    seen = list(moments(GROUPS))
    assert [moment.total for moment in seen] == list(accumulate(GROUPS))
    assert {moment.sums_held for moment in seen} == {1}


def test_five_tuples_are_enough_for_five_tuples_only() -> None:
    seen = list(moments(GROUPS))
    assert max(moment.tuples_held for moment in seen) == ROOM
    right = [moment.of_the_kept == moment.total for moment in seen]
    assert right == [True] * ROOM + [False] * (len(GROUPS) - ROOM)
