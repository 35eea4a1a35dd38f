"""Which accumulator serves which measure."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from penstock.kernel.fold import extreme, listing, number, order, sketch, spread, user
from penstock.kernel.fold.accumulator import Accumulator
from penstock.kernel.fold.argument import Task
from penstock.model.measure import Function

_BY_FUNCTION: Mapping[Function, Callable[[Task], Accumulator]] = {
    "approx_count_distinct": sketch.nearly_distinct,
    "avg": number.average,
    "collect_list": listing.collected,
    "collect_set": listing.collected_once,
    "count": number.count,
    "count_distinct": spread.distinct,
    "first": order.first,
    "histogram": spread.histogram,
    "last": order.last,
    "max": extreme.largest,
    "min": extreme.smallest,
    "quantile": spread.quantile,
    "stddev": spread.deviation,
    "sum": number.sum_,
    "top_k": extreme.largest_values,
    "top_k_distinct": extreme.largest_distinct_values,
    "user": user.user_defined,
    "variance": spread.variance,
}


def compile_measure(task: Task) -> Accumulator:
    """Choose how a measure is remembered."""
    return _BY_FUNCTION[task.measure.function](task)
