"""Values of unions, and how their branches are called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from penstock.schema.avro.nodes import Enum, Fixed, Named, Node, Primitive, Record, Union

NULL = Primitive("null")


@dataclass(frozen=True, slots=True)
class Tagged:
    """A value of a union with several branches besides null, and the name of its branch."""

    branch: str
    value: Any


def branch_name(node: Node) -> str:
    """Give what a branch of a union is called: a full name, or the type's own."""
    match node:
        case Record() | Enum() | Fixed() | Named() | Primitive():
            return node.name
        case _:
            return type(node).__name__.lower()


def only_branch(union: Union) -> Node | None:
    """Give the branch of a union that has no other one besides null."""
    rest = [branch for branch in union.branches if branch != NULL]
    return rest[0] if len(rest) == 1 else None


def branch_value(union: Union, branch: Node, value: object) -> object:
    """Give a value of a branch as one of the union: as it is where there is no doubt."""
    if branch == NULL or only_branch(union) is not None:
        return value
    return Tagged(branch_name(branch), value)
