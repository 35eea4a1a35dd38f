"""f(x) FILTER (WHERE ...): an aggregate of some rows is one of values that are null elsewhere."""

from __future__ import annotations

from dataclasses import replace

from penstock.errors import SqlError
from penstock.front.sql.functions.registry import is_aggregate
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.tree_expression import Call, Case, IntegerLiteral, Lambda, When

_WITHOUT_NULLS = (
    "AVG",
    "COUNT",
    "COUNT_DISTINCT",
    "EARLIEST_BY_OFFSET",
    "LATEST_BY_OFFSET",
    "MAX",
    "MIN",
    "STDDEV_SAMP",
    "STDDEV_SAMPLE",
    "SUM",
    "TOPK",
    "TOPKDISTINCT",
)
"""Aggregates that leave nulls out; for the others null is a value among values."""


def without_filter(call: Call, text: SourceText) -> Call:
    """Give the call that means the same without FILTER; where there is none it is refused."""
    name = call.function.text.upper()
    assert call.where is not None
    if not is_aggregate(name):
        raise SqlError(
            "SQL_FUNCTION_PLACE",
            text.shown(f"FILTER is asked of {name}, which is no aggregate", call.span),
            hint="Leave it out, or write CASE WHEN ... THEN ... END.",
        )
    if name not in _WITHOUT_NULLS:
        raise SqlError(
            "SQL_UNSUPPORTED",
            text.shown(f"{name} of some rows only is not supported", call.span),
            hint=f"FILTER goes with {', '.join(_WITHOUT_NULLS)}; or write WHERE.",
        )
    value, *others = call.arguments or (IntegerLiteral(1, span=call.span),)
    assert not isinstance(value, Lambda)
    some = Case((When(call.where, value, span=call.span),), span=call.span)
    return replace(call, arguments=(some, *others), star=False, where=None)
