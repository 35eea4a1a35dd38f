from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest

import penstock as ps
from penstock.errors import ModelError, SchemaError
from penstock.model.expr import Call, Cast, Column, Literal
from penstock.schema.types import INT64

A = ps.col("a")
B = ps.col("b")
HERE = Path(__file__).name


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (A + B, "a + b"),
        (1 + A, "1 + a"),
        (A - 1, "a - 1"),
        (1 - A, "1 - a"),
        (A * 2, "a * 2"),
        (2 * A, "2 * a"),
        (A / 2, "a / 2"),
        (2 / A, "2 / a"),
        (A % 2, "a % 2"),
        (2 % A, "2 % a"),
        (-A, "-a"),
        (A == "x", "a = 'x'"),
        (A != 1.5, "a != 1.5"),
        (A < B, "a < b"),
        (A <= B, "a <= b"),
        (A > B, "a > b"),
        (Decimal("1.5") <= A, "a >= 1.5"),
        ((A > 0) & (B > 0), "(a > 0) and (b > 0)"),
        ((A > 0) | (B > 0), "(a > 0) or (b > 0)"),
        (True & A, "True and a"),
        (False | A, "False or a"),
        (~A, "not a"),
        (A.is_null(), "a is null"),
        (A.is_not_null(), "a is not null"),
        (A.between(1, 2), "(a >= 1) and (a <= 2)"),
        (A.cast("int32"), "cast(a as int32)"),
        (A.cast(float), "cast(a as float64)"),
        (A.is_in(1), "a = 1"),
        (A.is_in(1, 2, 3), "(a = 1) or ((a = 2) or (a = 3))"),
        (A.is_in(), "False"),
        (ps.lit(None), "null"),
        (ps.when(A > 0).then("plus").otherwise(None), "if(a > 0, 'plus', null)"),
        (
            ps.when(A > 0).then(1).when(A < 0).then(-1).otherwise(B),
            "if(a > 0, 1, if(a < 0, -1, b))",
        ),
    ],
)
def test_an_expression_is_written_with_operators(expression: ps.Expression, text: str) -> None:
    assert str(expression) == repr(expression) == text


def test_the_model_inside_stays_a_plain_value() -> None:
    assert (A + 1).node == Call("add", (Column("a"), Literal(1)))
    assert A.cast(int).node == Cast(Column("a"), INT64)
    assert hash((A == B).node)


def test_a_name_goes_with_a_column_and_its_cast() -> None:
    assert A.name == A.cast(int).name == "a"
    assert (A + 1).name is None
    assert (A + 1).alias("more").name == "more"


def test_a_long_list_of_options_does_not_nest_deeply() -> None:
    expression = A.is_in(*range(5000))

    def depth(node: object) -> int:
        return 1 + max(map(depth, node.arguments)) if isinstance(node, Call) else 0

    assert depth(expression.node) < 20


@pytest.mark.parametrize(
    "use",
    [
        lambda: bool(A == B),
        lambda: A > 0 and B > 0,
        lambda: not A,
        lambda: 1 < A < 3,
        lambda: A in (B, 3),
    ],
)
def test_an_expression_is_neither_true_nor_false(use: Callable[[], object]) -> None:
    with pytest.raises(ModelError, match="EXPRESSION_TRUTH") as caught:
        use()
    assert f"({HERE}:" in caught.value.fact


def test_an_expression_is_no_key_of_a_dictionary() -> None:
    with pytest.raises(TypeError):
        hash(A)


def test_what_is_no_value_of_a_column_is_refused() -> None:
    with pytest.raises(ModelError, match="EXPRESSION_CONSTANT") as caught:
        ps.lit([1])  # type: ignore[arg-type]
    assert f"({HERE}:" in caught.value.fact
    with pytest.raises(ModelError, match="EXPRESSION_CONSTANT"):
        A + object()  # type: ignore[operator]


def test_a_misspelt_type_of_a_cast_is_named_with_its_line() -> None:
    with pytest.raises(SchemaError, match="TYPE_TEXT") as caught:
        A.cast("int65")
    assert f"({HERE}:" in caught.value.fact
