"""Which machine runs which description of a keyed step."""

from __future__ import annotations

from datetime import timedelta

from penstock.kernel.port import END_OF_TIME, Operator
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
            from penstock.kernel.buffered import BufferedAggregate

            return BufferedAggregate(relation)
        case Aggregate(window=Sliding()) as relation:
            from penstock.kernel.sliding import SlidingAggregate

            return SlidingAggregate(relation, keep_late_ms(keyed))
        case Aggregate() as relation:
            from penstock.kernel.windowed import WindowedAggregate

            return WindowedAggregate(relation, keep_late_ms(keyed))
        case Dedup() as relation:
            from penstock.kernel.dedup import DedupOperator

            return DedupOperator(relation)
        case TopN() as relation:
            from penstock.kernel.top_n import TopNOperator

            return TopNOperator(relation)


def keep_late_ms(keyed: Keyed) -> int:
    """Give how many milliseconds the watermark may pass a window's end before it leaves."""
    return END_OF_TIME if keyed.keep_late == FOREVER else keyed.keep_late // _MILLISECOND
