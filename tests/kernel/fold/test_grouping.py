from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import polars as pl
import pytest

from penstock.kernel.fold.grouping import group, group_anyhow, join
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
