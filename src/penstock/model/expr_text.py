"""Expressions as a reader would write them."""

from __future__ import annotations

from penstock.model.expr import Call, Cast, Column, Expr, Literal

_INFIX = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "mod": "%",
    "eq": "=",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "and": "and",
    "or": "or",
}
_SUFFIX = {"is_null": "is null", "is_not_null": "is not null"}
_PREFIX = {"not": "not ", "negate": "-"}


def expr_text(expr: Expr) -> str:
    """Write an expression on one line."""
    match expr:
        case Column(name):
            return name
        case Literal(value):
            return "null" if value is None else repr(value) if _plain(value) else str(value)
        case Cast(operand, kind):
            return f"cast({expr_text(operand)} as {kind})"
        case Call(function, (one, other)) if function in _INFIX:
            return f"{_inner(one)} {_INFIX[function]} {_inner(other)}"
        case Call(function, (one,)) if function in _SUFFIX or function in _PREFIX:
            return f"{_PREFIX.get(function, '')}{_inner(one)} {_SUFFIX.get(function, '')}".rstrip()
        case Call(function, arguments):
            return f"{function}({', '.join(expr_text(argument) for argument in arguments)})"


def _plain(value: object) -> bool:
    return isinstance(value, (bool, int, float, str, bytes))


def _inner(expr: Expr) -> str:
    text = expr_text(expr)
    joined = isinstance(expr, Call) and expr.function in {*_INFIX, *_SUFFIX, *_PREFIX}
    return f"({text})" if joined else text
