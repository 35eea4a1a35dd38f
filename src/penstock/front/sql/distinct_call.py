"""f(DISTINCT x): an aggregate of each value once, said by the function that counts so."""

from __future__ import annotations

from dataclasses import replace

from penstock.errors import SqlError
from penstock.front.sql.functions.registry import is_aggregate
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.tree_expression import Call

_SAID_BY = {"COUNT": "COUNT_DISTINCT", "COLLECT_LIST": "COLLECT_SET", "TOPK": "TOPKDISTINCT"}
_ALL_THE_SAME = ("MIN", "MAX", "COLLECT_SET", "COUNT_DISTINCT", "TOPKDISTINCT")


def without_distinct(call: Call, text: SourceText) -> Call:
    """Give the call that means the same without DISTINCT; where there is none it is refused."""
    name = call.function.text.upper()
    if not is_aggregate(name):
        raise SqlError(
            "SQL_FUNCTION_PLACE",
            text.shown(f"DISTINCT is asked of {name}, which is no aggregate", call.span),
            hint="Leave it out.",
        )
    if name not in _SAID_BY and name not in _ALL_THE_SAME:
        raise SqlError(
            "SQL_UNSUPPORTED",
            text.shown(f"{name} of each value once is not supported", call.span),
            hint="Aggregate a query of SELECT DISTINCT: FROM (SELECT DISTINCT x FROM ...).",
        )
    function = replace(call.function, text=_SAID_BY.get(name, name))
    return replace(call, function=function, distinct=False)
