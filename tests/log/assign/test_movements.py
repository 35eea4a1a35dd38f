from __future__ import annotations

from penstock.log.assign.movements import Movements
from tests.log.assign.groups import part


def test_a_partition_goes_where_it_is_needed() -> None:
    assert Movements().route(part("t-0"), "m1", "m2") == [(part("t-0"), "m2")]


def test_one_that_came_the_other_way_goes_home_instead() -> None:
    movements = Movements()
    movements.record(part("t-1"), "m2", "m1")
    assert movements.route(part("t-0"), "m1", "m2") == [(part("t-1"), "m2")]
    assert movements.route(part("u-0"), "m1", "m2") == [(part("u-0"), "m2")]


def test_two_that_crossed_by_way_of_a_third_member_both_go_home() -> None:
    movements = Movements()
    movements.record(part("t-0"), "m1", "m3")
    movements.record(part("t-1"), "m2", "m1")
    assert movements.route(part("t-0"), "m3", "m2") == [(part("t-1"), "m2"), (part("t-0"), "m1")]


def test_a_way_there_and_back_was_no_move() -> None:
    movements = Movements()
    movements.record(part("t-0"), "m1", "m2")
    movements.record(part("t-0"), "m2", "m3")
    movements.record(part("t-0"), "m3", "m1")
    assert movements.route(part("t-1"), "m2", "m1") == [(part("t-1"), "m1")]
    assert movements.route(part("t-1"), "m3", "m1") == [(part("t-1"), "m1")]
