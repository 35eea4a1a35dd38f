from __future__ import annotations

import random
from datetime import UTC, date, datetime, timedelta

import polars as pl
import pytest

from penstock.kernel.fold.grouping import count_in_order, count_numbers, group, group_anyhow, join
from penstock.kernel.port import Frame

MANY = 30_000
NAN = float("nan")
START = datetime(2024, 1, 1, tzinfo=UTC)


def many(**keys: pl.Expr) -> Frame:
    """So many rows that the other engine is taken."""
    return pl.select(n=pl.int_range(MANY)).with_columns(**keys)


NUMBER = pl.col("n") * 7919 % 101
BY = {
    "one": {"a": NUMBER},
    "numbers": {"a": NUMBER - 50, "b": pl.col("n") % 3 * 2**40},
    "numbers too far apart": {"a": (NUMBER - 50) * 2**55, "b": pl.col("n") % 3 * 2**40},
    "times": {
        "a": (NUMBER * 86_400_000).cast(pl.Datetime("ms", "UTC")),
        "b": (pl.col("n") % 3).cast(pl.Int32).cast(pl.Date),
    },
    "strings and nulls": {
        "a": pl.format("{}", NUMBER),
        "b": pl.when(pl.col("n") % 3 > 0).then(pl.col("n") % 3),
    },
}


@pytest.mark.parametrize("keys", BY.values(), ids=BY)
def test_both_engines_give_the_same_groups(keys: dict[str, pl.Expr]) -> None:
    frame = many(**keys)
    sums = [pl.col("n").sum(), pl.len().alias("size")]
    fast = group(frame, list(keys), sums)
    assert fast.equals(group(frame, list(keys), sums, in_order=True))
    anyhow = group_anyhow(frame, list(keys), sums)
    assert anyhow.schema == fast.schema
    assert anyhow.sort(*keys, "n").equals(fast.sort(*keys, "n"))


def test_times_come_back_as_they_were() -> None:
    frame = many(
        a=pl.lit(START) + pl.duration(hours=pl.col("n") % 2),
        b=pl.lit(date(1960, 1, 1)),
    )
    found = group(frame, ["a", "b"], [pl.len().alias("size")])
    assert found.rows() == [
        (START, date(1960, 1, 1), MANY / 2),
        (START + timedelta(hours=1), date(1960, 1, 1), MANY / 2),
    ]


def test_nulls_are_equal() -> None:
    left = pl.DataFrame({"a": [1, None, 2], "v": ["x", "y", "z"]})
    right = pl.DataFrame({"a": [None, 2], "w": [8, 9]}, schema_overrides={"a": pl.Int64})
    assert join(left, right, ["a"], "left").rows() == [(1, "x", None), (None, "y", 8), (2, "z", 9)]
    assert join(left, right, ["a"], "semi")["v"].to_list() == ["y", "z"]
    assert join(left, right, ["a"], "anti")["v"].to_list() == ["x"]


@pytest.mark.parametrize("height", [1, 3])
@pytest.mark.parametrize("in_order", [True, False])
def test_nan_finds_nan_even_in_sorted_columns(height: int, in_order: bool) -> None:
    known = pl.DataFrame({"x": [NAN, 1.0, 2.0][:height], "n": [7, 1, 2][:height]}).sort("x")
    wanted = pl.DataFrame({"x": [NAN, 1.0][: max(1, height - 1)]}).sort("x")
    left = join(wanted, known, ["x"], "left", in_order=in_order)
    inner = join(wanted, known, ["x"], "inner", in_order=in_order)
    for found in (left, inner):
        assert found.columns == ["x", "n"]
        assert sorted(found["n"].to_list()) == sorted([7, 1][: max(1, height - 1)])
    assert join(wanted, known, ["x"], "semi").height == wanted.height
    assert join(wanted, known, ["x"], "anti").height == 0


@pytest.mark.parametrize("weight", [None, "w"])
def test_small_numbers_are_counted_as_groups_are(weight: str | None) -> None:
    chance = random.Random(7)
    frame = pl.DataFrame(
        {
            "a": pl.Series([chance.randint(-3, 40) for _ in range(3000)], dtype=pl.Int32),
            "d": pl.Series([chance.randint(0, 9) for _ in range(3000)]).cast(pl.Date),
            "w": pl.Series([chance.choice((1, -1, 5)) for _ in range(3000)], dtype=pl.Int32),
        }
    )
    many = pl.len().cast(pl.Int64) if weight is None else pl.col("w").cast(pl.Int64).sum()
    expected = group(frame, ["a", "d"], [many.alias("n")])
    found = count_numbers(frame, ["a", "d"], weight, "n")
    assert found is not None
    assert found.schema == expected.schema
    assert sorted(found.rows()) == sorted(expected.rows())


@pytest.mark.parametrize("values", [["a"] * 2000, [0, 2**62] * 1000, [None, 1] * 1000, [1, 2]])
def test_other_values_and_few_rows_are_not_counted_so(values: list[object]) -> None:
    assert count_numbers(pl.DataFrame({"a": values}), ["a"], None, "n") is None


@pytest.mark.parametrize("weights", [None, (1,), (1, 2), (1, 9), (1, -1)])
def test_numbers_far_apart_are_counted_in_their_order(weights: tuple[int, ...] | None) -> None:
    chance = random.Random(3)
    frame = pl.DataFrame(
        {
            "a": [chance.randint(-3, 400) for _ in range(3000)],
            "b": [chance.randint(0, 9) * 10**9 for _ in range(3000)],
            "w": [chance.choice(weights or (1,)) for _ in range(3000)],
        }
    )
    weight = None if weights is None else "w"
    found = count_numbers(frame, ["a", "b"], weight, "n")
    if found is None:
        # Such weights would have made more numbers of them, or less than none.
        assert weights in ((1, 9), (1, -1))
        return
    many = pl.len() if weight is None else pl.col("w").sum()
    expected = group(frame, ["a", "b"], [many.cast(pl.Int64).alias("n")])
    assert found.equals(expected.sort("a", "b"))


def test_groups_are_counted_in_the_order_of_their_first_row() -> None:
    chance = random.Random(5)
    frame = pl.DataFrame(
        {
            "a": pl.Series([chance.randint(-30, 400) for _ in range(3000)], dtype=pl.Int32),
            "b": [chance.choice((9, 10, 12)) for _ in range(3000)],
            "c": [7] * 3000,
        }
    )
    for by in (["a"], ["a", "b"], ["c", "a"], ["c"]):
        expected = group(frame, by, [pl.len().cast(pl.Int64).alias("n")], in_order=True)
        found = count_in_order(frame, by, "n")
        assert found is not None
        assert found.equals(expected)
    assert count_in_order(frame.with_columns(pl.col("b") * 10**9), ["a", "b"], "n") is None
    assert count_in_order(frame.head(10), ["a"], "n") is None
    assert count_in_order(frame.with_columns(a=pl.lit(None, pl.Int64)), ["a"], "n") is None
