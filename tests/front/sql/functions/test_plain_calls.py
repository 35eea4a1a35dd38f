from __future__ import annotations

from penstock.front.sql.functions.plain_calls import plain_calls
from penstock.model.expr import Call, Cast, Column, Literal, Resolved
from penstock.schema.types import DATE, FLOAT64, INT32, decimal_of
from tests.front.sql.functions.evaluated import resolve

COLUMNS = {"I": INT32, "D": FLOAT64, "P": decimal_of(4, 2)}


def test_operators_become_calls_of_the_model() -> None:
    found = plain_calls(resolve("I + 1 > D AND I IS NOT NULL", COLUMNS).expr)
    one = Call("add", (Column("I"), Literal(1)))
    compared = Call("gt", (Cast(one, FLOAT64), Column("D")))
    known = Call("not", (Call("is_null", (Column("I"),)),))
    assert found == Call("and", (compared, known))


def test_what_means_something_else_stays() -> None:
    for text in ("I / 2", "P + P", "UCASE('a')", "CAST('2020-01-01' AS DATE)"):
        expr = resolve(text, COLUMNS).expr
        assert plain_calls(expr) == expr
    assert isinstance(resolve("CAST('2020-01-01' AS DATE)").expr, Resolved)
    assert resolve("CAST('2020-01-01' AS DATE)").type == DATE
