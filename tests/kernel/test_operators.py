from __future__ import annotations

from datetime import timedelta

import pytest

from penstock.kernel.buffered import BufferedAggregate
from penstock.kernel.dedup import DedupOperator
from penstock.kernel.operators import keep_late_ms, operator_of
from penstock.kernel.port import END_OF_TIME
from penstock.kernel.sliding import SlidingAggregate
from penstock.kernel.top_n import TopNOperator
from penstock.kernel.windowed import WindowedAggregate
from penstock.model.aggregate import Aggregate
from penstock.model.dedup import Dedup
from penstock.model.measure import Measure
from penstock.model.physical import Keyed, Stateful
from penstock.model.refine import FOREVER
from penstock.model.source import Stream
from penstock.model.top_n import TopN
from penstock.model.window import Buffered, ByCount, Global, Sliding, Tumbling, Window
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT64

STREAM = Stream("in", Schema((Field("k", INT64), Field("at", INT64))), "at")


def counted(window: Window | None) -> Aggregate:
    return Aggregate(STREAM, ("k",), (Measure("n", "count"),), window)


def keyed(relation: Stateful, keep_late: timedelta = timedelta(seconds=2)) -> Keyed:
    return Keyed("x", relation, 0, (), keep_late)


@pytest.mark.parametrize(
    ("relation", "operator"),
    [
        (counted(None), WindowedAggregate),
        (counted(Tumbling(timedelta(seconds=1))), WindowedAggregate),
        (counted(Global()), WindowedAggregate),
        (counted(Sliding(timedelta(seconds=1))), SlidingAggregate),
        (counted(Buffered("tumbling", ByCount(3))), BufferedAggregate),
        (Dedup(STREAM, ("k",)), DedupOperator),
        (TopN(STREAM, ("k",), "at", 2), TopNOperator),
    ],
)
def test_each_description_has_its_machine(relation: Stateful, operator: type) -> None:
    found = operator_of(keyed(relation))
    assert type(found) is operator
    assert found.keys == ("k",)


def test_lateness_is_counted_in_milliseconds_and_may_have_no_end() -> None:
    assert keep_late_ms(keyed(counted(None))) == 2_000
    assert keep_late_ms(keyed(counted(None), FOREVER)) == END_OF_TIME
