from __future__ import annotations

from pathlib import Path

import pytest

import penstock as ps
from penstock.errors import SchemaError
from penstock.model.expr import Column
from penstock.model.measure import Measure
from penstock.schema.types import INT32

N = (Column("n"),)
HERE = Path(__file__).name


class Longest:
    """Gives the longest text."""

    def init(self) -> str:
        return ""

    def add(self, accumulator: str, *values: str) -> str:
        return max(accumulator, *values, key=len)

    def merge(self, one: str, other: str) -> str:
        return max(one, other, key=len)

    def retract(self, accumulator: str, *values: str) -> str:
        raise NotImplementedError

    def result(self, accumulator: str) -> int:
        return len(accumulator)


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        (ps.count(), Measure("", "count")),
        (ps.count("n"), Measure("", "count", N)),
        (ps.sum("n"), Measure("", "sum", N)),
        (ps.sum(ps.col("n") * 2), Measure("", "sum", ((ps.col("n") * 2).node,))),
        (ps.avg("n"), Measure("", "avg", N)),
        (ps.min("n"), Measure("", "min", N)),
        (ps.max("n"), Measure("", "max", N)),
        (ps.first("n"), Measure("", "first", N, (("by", "time"),))),
        (ps.last("n", by="arrival"), Measure("", "last", N, (("by", "arrival"),))),
        (ps.collect_list("n"), Measure("", "collect_list", N)),
        (ps.collect_set("n"), Measure("", "collect_set", N)),
        (ps.count_distinct("n", "m"), Measure("", "count_distinct", (*N, Column("m")))),
        (ps.approx_count_distinct("n"), Measure("", "approx_count_distinct", N)),
        (ps.top_k("n", 3), Measure("", "top_k", N, (("k", 3),))),
        (ps.top_k("n", 3, distinct=True), Measure("", "top_k_distinct", N, (("k", 3),))),
        (ps.quantile("n", 0.9), Measure("", "quantile", N, (("q", 0.9),))),
        (ps.median("n"), Measure("", "quantile", N, (("q", 0.5),))),
        (ps.variance("n"), Measure("", "variance", N)),
        (ps.stddev("n"), Measure("", "stddev", N)),
        (
            ps.histogram("n", bins=4, low=0, high=8),
            Measure("", "histogram", N, (("bins", 4), ("low", 0), ("high", 8))),
        ),
    ],
)
def test_an_aggregate_is_said_in_one_word(measure: Measure, expected: Measure) -> None:
    assert measure == expected
    assert measure.site.startswith(HERE)


def test_an_aggregate_of_your_own_says_what_it_gives() -> None:
    longest = Longest()
    measure = ps.aggregate(longest, "n", gives="int32")
    assert measure == Measure("", "user", N, user=longest, gives=INT32)
    with pytest.raises(SchemaError, match="TYPE_TEXT") as caught:
        ps.aggregate(longest, "n", gives="int33")
    assert f"({HERE}:" in caught.value.fact
