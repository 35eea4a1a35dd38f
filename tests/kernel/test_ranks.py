from __future__ import annotations

import random
from typing import Any

import polars as pl
import pytest

from penstock.kernel.multiset import PACKED
from penstock.kernel.ranks import Ranks
from penstock.model.top_n import Sorting

DOWN_THEN_UP = (Sorting("n", descending=True), Sorting("m"))


def some(seed: int, keys: str) -> pl.DataFrame:
    chance = random.Random(seed)
    groups: list[Any] = [0, 1, 2, 3] if keys == "numbers" else ["a", "b", "c"]
    return pl.DataFrame(
        {
            "key": [chance.choice(groups) for _ in range(80)],
            "n": [chance.randint(0, 6) for _ in range(80)],
            "m": [chance.randint(0, 2) for _ in range(80)],
            "_weight": pl.Series([1] * 80, dtype=pl.Int32),
        }
    ).with_row_index("row")


@pytest.mark.parametrize("keys", ["numbers", "texts"])
@pytest.mark.parametrize("ties", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_places_are_those_of_the_rows_sorted_by_all_columns(
    seed: int, keys: str, *, ties: bool
) -> None:
    rows = some(seed, keys)
    expected = []
    for key in rows["key"].unique():
        mine = sorted(
            rows.filter(pl.col("key") == key).rows(named=True),
            key=lambda row: (-row["n"], row["m"], row["row"]),
        )
        for place, row in enumerate(mine, 1):
            alike = [other for other in mine if (other["n"], other["m"]) == (row["n"], row["m"])]
            number = mine.index(alike[0]) + 1 if ties else place
            if number <= 4:
                expected.append((row["row"], number))
    found = Ranks(("key",), DOWN_THEN_UP, 4, ties).of(rows, "place")
    assert found.select("row", "place").rows() == sorted(expected)
    assert found.columns == [*rows.columns, "place"]


@pytest.mark.parametrize("keys", ["numbers", "texts"])
def test_packed_rows_stand_for_all_of_their_group(keys: str) -> None:
    rows = some(5, keys)
    packed = Ranks(("key",), DOWN_THEN_UP, 2).packed(rows)
    assert packed.height == 2 * rows["key"].n_unique()
    assert packed[PACKED].sum() == rows.height


def test_nulls_are_last_and_rows_taken_back_have_no_place() -> None:
    rows = pl.DataFrame({"n": [None, 2, 9, 1], "_weight": [1, 1, -1, 1]})
    found = Ranks((), (Sorting("n", descending=True),), 2).of(rows, "place")
    assert found.select("n", "place").rows() == [(2, 1), (1, 2)]


def test_of_no_rows_none_is_chosen() -> None:
    rows = some(1, "texts").clear()
    assert Ranks(("key",), DOWN_THEN_UP, 2).of(rows, "place").is_empty()
