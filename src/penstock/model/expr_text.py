"""Expressions as a reader would write them."""

from __future__ import annotations

from penstock.model.expr import Call, Cast, Column, Expr, Lambda, Literal, Resolved, Variable

_INFIX = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "mod": "%",
    "modulo": "%",
    "join_texts": "||",
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
        case Column(name) | Variable(name):
            return name
        case Literal(value):
            return "null" if value is None else repr(value) if _plain(value) else str(value)
        case Cast(operand, kind) | Resolved("cast", (operand,), kind):
            return f"cast({expr_text(operand)} as {kind})"
        case Lambda(parameters, body):
            return f"({', '.join(item.name for item in parameters)}) => {expr_text(body)}"
        case Call(function, arguments) | Resolved(function, arguments):
            return _call_text(function, arguments)


def _call_text(function: str, arguments: tuple[Expr, ...]) -> str:
    match arguments:
        case (one, other) if function in _INFIX:
            return f"{_inner(one)} {_INFIX[function]} {_inner(other)}"
        case (one,) if function in _SUFFIX or function in _PREFIX:
            return f"{_PREFIX.get(function, '')}{_inner(one)} {_SUFFIX.get(function, '')}".rstrip()
        case _:
            return f"{function}({', '.join(expr_text(argument) for argument in arguments)})"


def _plain(value: object) -> bool:
    return isinstance(value, (bool, int, float, str, bytes))


def _inner(expr: Expr) -> str:
    text = expr_text(expr)
    joined = isinstance(expr, Call | Resolved) and expr.function in {*_INFIX, *_SUFFIX, *_PREFIX}
    return f"({text})" if joined else text
