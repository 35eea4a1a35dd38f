"""Trees walked without knowing what is in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from penstock.front.sql.tree_expression import Call, Expression


def calls_of(expression: Expression) -> Iterator[Call]:
    """Give every call of a function in an expression, outer ones first."""
    yield from (node for node in nodes_of(expression) if isinstance(node, Call))


def nodes_of(tree: Any) -> Iterator[Any]:  # noqa: ANN401
    """Give a node and all inside of it."""
    if isinstance(tree, tuple):
        for item in tree:
            yield from nodes_of(item)
    elif is_dataclass(tree):
        yield tree
        for field in fields(tree):
            yield from nodes_of(getattr(tree, field.name))
