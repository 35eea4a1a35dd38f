from __future__ import annotations

from typing import get_args

from penstock.model.measure import Function
from penstock.model.physical import Stateful
from penstock.model.signature import FUNCTIONS as TYPED
from penstock.model.stateless import Stateless
from penstock.plan.capability import AGGREGATES, CAST, FUNCTIONS, RELATIONS


def test_the_table_has_every_function_of_the_model_and_no_other() -> None:
    assert set(FUNCTIONS) == set(TYPED)


def test_the_table_has_every_aggregate_of_the_model_and_no_other() -> None:
    assert set(AGGREGATES) == set(get_args(Function))


def test_the_table_has_every_step_of_the_model() -> None:
    names = {kind.__name__ for kind in (*get_args(Stateless), *get_args(Stateful))}
    assert set(RELATIONS) == names


def test_every_function_runs_on_columns_and_in_spark() -> None:
    assert all(item.columnar and item.spark for item in (*FUNCTIONS.values(), CAST))


def test_a_limit_is_said_where_a_pattern_must_be_constant() -> None:
    patterns = [name for name in FUNCTIONS if name.startswith("regexp") or name == "split"]
    assert all("constant" in FUNCTIONS[name].limits for name in patterns)
