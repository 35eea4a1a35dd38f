from __future__ import annotations

import pickle
from typing import Any

import polars as pl
import pytest

from penstock.kernel.expression import lower
from penstock.kernel.user_calls import UserRows, taken_out
from penstock.model.expr import Column, Lambda, Resolved, Variable
from penstock.model.user_code import CodeAggregate, Trial, UserCode, loaded
from penstock.plan.token import token
from penstock.plan.user_code import by_name, by_text
from penstock.schema.schema import Field, Schema
from penstock.schema.types import FLOAT64, INT64, STRING, Type, array_of

NUMBERS = Schema((Field("X", INT64),))


def code(text: str, batch: Any = "", *, nulls: bool = False) -> UserCode:  # noqa: ANN401
    return UserCode("F", text, ("x",), batch, nulls)


def computed(made: UserCode, values: list[Any], gives: Type = INT64) -> tuple[list[Any], list[int]]:
    column = pl.Series("x", values, dtype=pl.Int64)
    found, failures = UserRows(made, gives).computed([column], len(values))
    return found.to_list(), [failure.place for failure in failures]


def test_a_function_of_rows_is_not_called_with_nulls_unless_it_is_said() -> None:
    assert computed(code("x + 1"), [1, None, 3]) == ([2, None, 4], [])
    assert computed(code("7 if x is None else x", nulls=True), [1, None]) == ([1, 7], [])


def test_rows_that_fail_or_do_not_fit_are_told_one_by_one() -> None:
    assert computed(code("6 // x"), [1, 0, 3]) == ([6, None, 2], [1])
    assert computed(code("'a' if x == 2 else x"), [1, 2, 3]) == ([1, None, 3], [1])
    assert computed(code("(n for n in (x, x))"), [2], array_of(INT64)) == ([[2, 2]], [])


@pytest.mark.parametrize("batch", ["polars", "arrow"])
def test_a_function_of_columns_is_called_with_halves_where_it_raises(batch: str) -> None:
    text = (
        "def f(x):\n"
        "    values = x.to_list() if hasattr(x, 'to_list') else x.to_pylist()\n"
        "    return [12 // value for value in values]\n"
    )
    assert computed(code(text, batch), [1, 0, None, 3, 0]) == ([12, None, None, 4, None], [1, 4])


@pytest.mark.parametrize(
    # Of one row alone its first row is right: only of several it is not.
    ("text", "failed"),
    [("x.head(1)", []), ("5", [0, 1]), ("x.cast(str) + 'a'", [0, 1])],
)
def test_what_is_no_column_of_the_rows_fails(text: str, failed: list[int]) -> None:
    assert computed(code(text, "polars"), [1, 2])[1] == failed


def test_a_call_is_taken_out_once_and_one_of_a_lambda_stays() -> None:
    made = code("x * 2")
    call = Resolved("f", (Column("X"),), INT64, made)
    twice = Resolved("f", (call,), INT64, made)
    plain, calls, known = taken_out([call, twice, call], NUMBERS)
    assert plain == [Column("_user0"), Column("_user1"), Column("_user0")]
    assert [it.arguments for it in calls] == [(Column("X"),), (Column("_user0"),)]
    assert known.names == ("X", "_user0", "_user1")
    variable = Variable("y", INT64)
    inner = Lambda((variable,), Resolved("f", (variable,), INT64, made))
    assert taken_out([inner], NUMBERS)[0] == [inner]


def test_a_call_that_stays_raises_what_it_fails_of() -> None:
    call = Resolved("f", (Column("X"),), FLOAT64, code("1 / x"))
    frame = pl.DataFrame({"X": [1, 0]})
    assert frame.head(1).select(lower(call, NUMBERS)).to_series().to_list() == [1.0]
    with pytest.raises(pl.exceptions.ComputeError, match="ZeroDivisionError"):
        frame.select(lower(call, NUMBERS))
    alone = Resolved("g", (), STRING, UserCode("G", "'a'", ()))
    assert frame.select(lower(alone, NUMBERS).alias("g"))["g"].to_list()[0] == "a"


def test_an_aggregate_has_the_steps_of_its_text() -> None:
    text = "def init(): return 0\ndef add(a, x): return a + x\ndef merge(a, b): return a + b\n"
    made = CodeAggregate(code(text + "def result(a): return a\n"))
    assert made.add(made.add(made.init(), 2), None) == 2
    assert not hasattr(made, "retract")
    assert Trial(made.code)(3) is True
    with pytest.raises(TypeError):
        Trial(made.code)("a")


def test_a_module_gives_a_function_by_its_name() -> None:
    assert loaded(code("math:sqrt"))(4) == 2.0
    assert code("a").file != code("b").file


def test_a_corrected_text_is_another_plan_but_the_same_state() -> None:
    one, other = CodeAggregate(code("a")), CodeAggregate(code("b"))
    assert one == CodeAggregate(code("a"))
    assert len({one, CodeAggregate(code("a"))}) == 1
    assert pickle.loads(pickle.dumps(one)) == one
    assert token(one, by_name) == token(other, by_name)
    assert token(one, by_text) != token(other, by_text)
    another = CodeAggregate(UserCode("G", "a", ("x",)))
    assert token(one, by_name) != token(another, by_name)
