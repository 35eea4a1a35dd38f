"""Expressions that compute the same twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from penstock.model.expr import Call, Cast, Column, Expr, Literal, Resolved

_SLOW = ("split_index", "split", "regexp_extract", "lcase", "ucase", "format_timestamp")
"""Functions that take longer than it does to look for what is common."""


def repeats(exprs: Sequence[Expr]) -> bool:
    """Whether something that takes time is computed of the same columns more than once."""
    seen: set[tuple[str, tuple[Expr, ...]]] = set()
    for expr in exprs:
        for call in _calls(expr):
            columns = tuple(item for item in call.arguments if isinstance(item, Column))
            same = (call.function, columns)
            if columns and same in seen:
                return True
            seen.add(same)
    return False


def _calls(expr: Expr) -> Iterator[Resolved]:
    match expr:
        case Resolved():
            if expr.user is None and expr.function in _SLOW:
                yield expr
            for item in expr.arguments:
                yield from _calls(item)
        case Call(_, arguments):
            for item in arguments:
                yield from _calls(item)
        case Cast(operand, _):
            yield from _calls(operand)
        case Column() | Literal():
            return
        case _:
            return
