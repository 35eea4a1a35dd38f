from __future__ import annotations

import math
from typing import Any

import pytest
from typing_extensions import override

from penstock.errors import ModelError, RunError, SchemaError
from penstock.kernel.codec import decode, encode
from penstock.kernel.port import State
from penstock.model.expr import Column
from penstock.model.measure import Measure
from penstock.schema.types import FLOAT64, INT64, STRING, Type, array_of
from tests.kernel.fold.oracle import BY, Row, fold_of, folded, frame_of, table_of


class Middle:
    """The middle one of all values, which it keeps; a null counts as zero."""

    def init(self) -> list[int]:
        return []

    def add(self, accumulator: list[int], value: int | None) -> list[int]:
        accumulator.append(value or 0)
        return accumulator

    def merge(self, one: list[int], other: list[int]) -> list[int]:
        return one + other

    def retract(self, accumulator: list[int], value: int | None) -> list[int]:
        accumulator.remove(value or 0)
        return accumulator

    def result(self, accumulator: list[int]) -> Any:  # noqa: ANN401
        return sorted(accumulator)[len(accumulator) // 2] if accumulator else None


class Pairs(Middle):
    """Of two columns, or none."""

    @override
    def add(self, accumulator: list[int], *values: Any) -> list[int]:
        return [*accumulator, len(values)]


class WithoutRetract:
    init, add, merge, result = Middle.init, Middle.add, Middle.merge, Middle.result


class Broken(Middle):
    @override
    def result(self, accumulator: list[int]) -> Any:
        return 1 // (len(accumulator) - 1)


class Unpicklable(Middle):
    @override
    def init(self) -> Any:
        return lambda: None

    @override
    def add(self, accumulator: Any, value: int | None) -> Any:
        return accumulator


class Wrong(Middle):
    @override
    def result(self, accumulator: list[int]) -> Any:
        return f"{len(accumulator)} values"


def user(aggregate: Any, *columns: str, gives: Type = INT64) -> Measure:  # noqa: ANN401
    arguments = tuple(Column(name) for name in columns)
    return Measure("m", "user", arguments, user=aggregate, gives=gives, site="shop.py:7")


MIDDLE = user(Middle(), "n")
ROWS = [Row("a", 5), Row("b", 1), Row("a", 7), Row("a", None), Row("a", 6)]


@pytest.mark.parametrize("retracts", [False, True])
def test_rows_are_added_and_parts_merged(retracts: bool) -> None:
    assert folded(ROWS, MIDDLE, retracts=retracts) == [6, 1]
    fold = fold_of(MIDDLE, retracts=retracts)
    parts = [fold.fold(frame_of([row]), BY) for row in ROWS]
    merged = fold.merge(parts, BY)
    assert table_of(fold, merged) == {("a", 0, 10): (4, 6), ("b", 0, 10): (1, 1)}
    stored = decode(encode(State(fold.tables(merged)), "f"), "f").tables
    assert table_of(fold, fold.groups(stored)) == table_of(fold, merged)


def test_rows_are_taken_back_from_the_part_that_has_them() -> None:
    fold = fold_of(MIDDLE, retracts=True)
    state = fold.fold(frame_of(ROWS), BY)
    changes = [
        [Row("a", 7, weight=-1), Row("a", 8)],
        [Row("a", 8, weight=-1), Row("a", 6, weight=-1)],
        [Row("b", 1, weight=-1)],
    ]
    for change in changes:
        state = fold.merge([state, fold.fold(frame_of(change), BY)], BY)
    assert table_of(fold, state) == {("a", 0, 10): (2, 5), ("b", 0, 10): (0, None)}


def test_what_is_owed_is_taken_back_at_the_latest_for_the_result() -> None:
    fold = fold_of(MIDDLE, retracts=True)
    owed = fold.fold(frame_of([Row("a", 5, weight=-1)]), BY)
    there = fold.fold(frame_of([Row("a", 5), Row("a", 7)]), BY)
    assert table_of(fold, fold.merge([owed, there], BY)) == {("a", 0, 10): (1, 7)}


def test_it_may_take_several_columns_or_none() -> None:
    assert folded(ROWS, user(Pairs(), "n", "x")) == [2, 2]
    assert folded(ROWS, user(Pairs())) == [0, 0]
    assert fold_of(MIDDLE).packable
    assert not fold_of(MIDDLE, retracts=True).packable


def test_results_have_the_declared_type() -> None:
    class Listed(Middle):
        @override
        def result(self, accumulator: list[int]) -> Any:
            return [str(value) for value in accumulator]

    assert folded(ROWS, user(Listed(), "n", gives=array_of(STRING))) == [
        ["5", "7", "0", "6"],
        ["1"],
    ]
    assert math.isclose(folded(ROWS, user(Middle(), "n", gives=FLOAT64))[0], 6.0)
    with pytest.raises(SchemaError, match=r'VALUE_TYPE.*"m"'):
        folded(ROWS, user(Wrong(), "n"))


def test_a_failure_names_the_aggregate_and_its_place() -> None:
    with pytest.raises(RunError, match=r"AGGREGATE_FAILED") as caught:
        folded(ROWS, user(Broken(), "n"))
    assert caught.value.fact == (
        'aggregate "m" failed in result with ZeroDivisionError: '
        "integer division or modulo by zero (shop.py:7)"
    )


def test_an_accumulator_that_cannot_be_stored_is_refused() -> None:
    with pytest.raises(RunError, match=r"AGGREGATE_STATE.*shop\.py:7"):
        folded(ROWS, user(Unpicklable(), "n"))


def test_an_aggregate_that_cannot_take_back_is_refused_where_it_must() -> None:
    assert folded(ROWS, user(WithoutRetract(), "n")) == [6, 1]
    with pytest.raises(ModelError, match=r'AGGREGATE_METHOD.*"retract"'):
        fold_of(user(WithoutRetract(), "n"), retracts=True)
