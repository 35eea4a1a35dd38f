from __future__ import annotations

from penstock.kernel.repeated import repeats
from penstock.model.expr import Cast, Column, Expr, Literal, Resolved
from penstock.schema.types import INT64, STRING


def part(column: str, place: int) -> Expr:
    arguments = (Column(column), Literal("/"), Literal(place))
    return Resolved("split_index", arguments, STRING)


def test_a_slow_function_of_the_same_column_is_worth_to_be_shared() -> None:
    assert repeats([part("url", 1), Cast(part("url", 2), INT64)])


def test_functions_of_different_columns_share_nothing() -> None:
    assert not repeats([part("url", 1), part("path", 1), Column("url")])
