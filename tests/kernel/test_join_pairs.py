from __future__ import annotations

import random
from typing import Any

import polars as pl
import pytest

from penstock.kernel import join_pairs
from penstock.kernel.join_pairs import meeting
from penstock.kernel.join_reach import Reach
from penstock.kernel.port import Frame

NAN = float("nan")


def found(left: Frame, right: Frame, reach: Reach | None = None) -> list[tuple[int, int]]:
    pairs = meeting(left, right, reach)
    return list(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))


def keys(values: list[Any], dtype: Any = None) -> Frame:  # noqa: ANN401
    return pl.DataFrame({"key": pl.Series(values, dtype=dtype)})


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ([3, 1, 2**62, -(2**62)], [2**62, 3, -(2**62)], [(0, 1), (2, 0), (3, 2)]),
        (["a", "b", ""], ["", "a", "a"], [(0, 1), (0, 2), (2, 0)]),
        ([0.0, NAN, 1.0], [NAN, -0.0], [(0, 1), (1, 0)]),
        ([[1, 2], [], [1]], [[1, 2], [], [2, 1]], [(0, 0), (1, 1)]),
        ([{"x": 1}, {"x": None}], [{"x": None}, {"x": 1}], [(0, 1), (1, 0)]),
        ([True, False], [False], [(1, 0)]),
    ],
)
def test_keys_of_all_types_are_told_apart(
    one: list[Any], other: list[Any], expected: list[tuple[int, int]]
) -> None:
    assert sorted(found(keys(one), keys(other))) == expected


def test_several_columns_must_all_be_the_same() -> None:
    left = pl.DataFrame({"key": ["a", "a", "b"], "start": [1, 2, 1]})
    right = pl.DataFrame({"key": ["a", "b", "b"], "start": [1, 1, 2]})
    assert sorted(found(left, right)) == [(0, 0), (2, 1)]


@pytest.mark.parametrize("spread", [1, 10**17])
@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("sizes", [(3, 40), (40, 3), (30, 30), (0, 5)])
def test_near_rows_are_found_as_by_looking_at_all_pairs(
    spread: int, sizes: tuple[int, int], *, text: bool
) -> None:
    chance = random.Random(str((spread, text, sizes)))
    for _ in range(20):
        sides = []
        for size in sizes:
            numbers = [chance.randint(0, 3) for _ in range(size)]
            times = [chance.randint(0, 12) * spread for _ in range(size)]
            kind = pl.String() if text else pl.Int64()
            frame = keys([str(n) for n in numbers] if text else numbers, kind)
            sides.append(frame.with_columns(pl.Series("_time", times, pl.Int64)))
        low = chance.randint(-4, 3)
        reach = Reach(low * spread, chance.randint(low, 5) * spread)
        left, right = (side.rows() for side in sides)
        expected = [
            (i, j)
            for i, (key, time) in enumerate(left)
            for j, (other, at) in enumerate(right)
            if key == other and reach.low <= at - time <= reach.high
        ]
        assert sorted(found(sides[0], sides[1], reach)) == expected


def test_keys_that_only_look_alike_do_not_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    def alike(rows: Frame) -> pl.Series:
        return pl.Series([7] * rows.height, dtype=pl.UInt64)

    monkeypatch.setattr(join_pairs, "row_hash", alike)
    assert found(keys(["a", "b", "c"]), keys(["c", "a"])) == [(2, 0), (0, 1)]
    timed = keys(["a", "b"]).with_columns(pl.Series("_time", [1, 1]))
    assert found(timed, timed, Reach(-1, 1)) == [(0, 0), (1, 1)]


def test_partners_come_in_the_order_of_arrival() -> None:
    assert found(keys([1, 2]), keys([2, 1, 2, 1])) == [(0, 1), (0, 3), (1, 0), (1, 2)]
