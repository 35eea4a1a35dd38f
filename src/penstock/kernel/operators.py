"""Which machine runs which description of a keyed step."""

from __future__ import annotations

from datetime import timedelta

from penstock.kernel.buffered import BufferedAggregate
from penstock.kernel.dedup import DedupOperator
from penstock.kernel.port import END_OF_TIME, Operator
from penstock.kernel.sliding import SlidingAggregate
from penstock.kernel.top_n import TopNOperator
from penstock.kernel.windowed import WindowedAggregate
from penstock.model.aggregate import Aggregate
from penstock.model.dedup import Dedup
from penstock.model.physical import Keyed
from penstock.model.refine import FOREVER
from penstock.model.top_n import TopN
from penstock.model.window import Buffered, Sliding

_MILLISECOND = timedelta(milliseconds=1)


def operator_of(keyed: Keyed) -> Operator:
    """Give the operator that does what a keyed step describes."""
    match keyed.relation:
        case Aggregate(window=Buffered()) as relation:
            return BufferedAggregate(relation)
        case Aggregate(window=Sliding()) as relation:
            return SlidingAggregate(relation, keep_late_ms(keyed))
        case Aggregate() as relation:
            return WindowedAggregate(relation, keep_late_ms(keyed))
        case Dedup() as relation:
            return DedupOperator(relation)
        case TopN() as relation:
            return TopNOperator(relation)


def keep_late_ms(keyed: Keyed) -> int:
    """Give how many milliseconds the watermark may pass a window's end before it leaves."""
    return END_OF_TIME if keyed.keep_late == FOREVER else keyed.keep_late // _MILLISECOND
