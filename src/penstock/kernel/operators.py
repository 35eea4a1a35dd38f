"""Which machine runs which description of a keyed step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from penstock.kernel.as_of import AsOfOperator
from penstock.kernel.buffered import BufferedAggregate
from penstock.kernel.dedup import DedupOperator
from penstock.kernel.join import JoinOperator
from penstock.kernel.latest import LatestOperator
from penstock.kernel.match import MatchOperator
from penstock.kernel.port import END_OF_TIME, Joiner, Operator
from penstock.kernel.process import ProcessOperator
from penstock.kernel.settle import SettleOperator
from penstock.kernel.sliding import SlidingAggregate
from penstock.kernel.top_n import TopNOperator
from penstock.kernel.versions import VersionsOperator
from penstock.kernel.windowed import WindowedAggregate
from penstock.model.aggregate import Aggregate
from penstock.model.dedup import Dedup
from penstock.model.join import Join
from penstock.model.join_bound import AsOf
from penstock.model.latest import Latest
from penstock.model.match import Match
from penstock.model.physical import Keyed
from penstock.model.process import Process
from penstock.model.refine import FOREVER
from penstock.model.relation import Relation
from penstock.model.settle import Settle
from penstock.model.top_n import TopN
from penstock.model.versions import Versions
from penstock.model.window import Buffered, Sliding

_MILLISECOND = timedelta(milliseconds=1)


_OPERATORS: Mapping[type[Relation], Callable[[Any], Operator]] = {
    Dedup: DedupOperator,
    TopN: TopNOperator,
    Latest: LatestOperator,
    Settle: SettleOperator,
    Process: ProcessOperator,
}


def operator_of(keyed: Keyed) -> Operator:
    """Give the operator that does what a keyed step of one input describes."""
    match keyed.relation:
        case Aggregate() as relation:
            return _aggregate(relation, keyed)
        case Match() as relation:
            return MatchOperator(relation, keep_late_ms(keyed))
        case Versions() as relation:
            return VersionsOperator(relation, keep_late_ms(keyed))
        case relation:
            return _OPERATORS[type(relation)](relation)


def _aggregate(relation: Aggregate, keyed: Keyed) -> Operator:
    if isinstance(relation.window, Buffered):
        return BufferedAggregate(relation)
    if isinstance(relation.window, Sliding):
        return SlidingAggregate(relation, keep_late_ms(keyed))
    return WindowedAggregate(relation, keep_late_ms(keyed))


def joiner_of(keyed: Keyed) -> Joiner:
    """Give the operator of a join."""
    relation = keyed.relation
    assert isinstance(relation, Join)
    if isinstance(relation.bound, AsOf):
        return AsOfOperator(relation, keep_late_ms(keyed))
    return JoinOperator(relation, keep_late_ms(keyed))


def keep_late_ms(keyed: Keyed) -> int:
    """Give how many milliseconds the watermark may pass a window's end before it leaves."""
    return END_OF_TIME if keyed.keep_late == FOREVER else keyed.keep_late // _MILLISECOND
