from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
import polars as pl
import pytest

from penstock.kernel.multiset import replaced, rows_at, touched, touched_places


@pytest.mark.parametrize(
    ("held", "delta", "mine"),
    [
        ([5, 1, 7, 5], [5, 7], [0, 2, 3]),
        ([-(2**62), 2**62, 3], [2**62, -9], [1]),
        ([1, None, 3], [None], [1]),
        ([1, 2], [None, 2], [1]),
        (["a", None, "b"], ["b", None], [1, 2]),
        ([1.5, float("nan")], [float("nan")], [1]),
        (
            [datetime(2024, 1, day, tzinfo=UTC) for day in (1, 2)],
            [datetime(2024, 1, 2, tzinfo=UTC)],
            [1],
        ),
        ([True, False], [False], [1]),
        ([], [1], []),
        ([1, 2], [], []),
    ],
)
def test_rows_of_the_groups_of_a_delta_are_found(
    held: list[Any], delta: list[Any], mine: list[int]
) -> None:
    kind = pl.Series([*held, *delta]).dtype
    rows = pl.DataFrame({"k": pl.Series(held, dtype=kind), "j": [0] * len(held)})
    came = pl.DataFrame({"k": pl.Series(delta, dtype=kind), "j": [0] * len(delta)})
    came = came.with_columns(pl.col("j").cast(pl.Int64))
    rows = rows.with_columns(pl.col("j").cast(pl.Int64))
    for keys in (["k"], ["j", "k"]):
        assert touched_places(rows, came, keys).tolist() == mine
        one, other = touched(rows, came, keys)
        assert one.equals(rows[mine])
        assert one.height + other.height == rows.height


def test_without_keys_all_rows_are_of_the_group() -> None:
    rows = pl.DataFrame({"k": [1, 2]})
    assert touched_places(rows, rows, ()).tolist() == [0, 1]


def test_what_is_held_in_many_pieces_becomes_one() -> None:
    held = pl.DataFrame({"k": [0]})
    for number in range(1, 60):
        held = replaced(held, np.zeros(0, np.int64), pl.DataFrame({"k": [number]}))
        assert held.n_chunks() <= 17
    assert held["k"].to_list() == list(range(60))
    assert replaced(held, np.array([3, 59]), held.clear())["k"].to_list() == [
        number for number in range(59) if number != 3
    ]
    assert rows_at(held, np.array([1, 58]))["k"].to_list() == [1, 58]
