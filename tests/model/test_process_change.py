from __future__ import annotations

from datetime import timedelta

import pytest

from penstock.errors import StateError
from penstock.model.process import Holds, StateField
from penstock.model.process_change import check_change, widens
from penstock.schema.text import parse_type


def state(
    name: str, kind: str, holds: Holds = "value", *, key: str | None = None, was: str | None = None
) -> StateField:
    return StateField(name, holds, parse_type(kind), parse_type(key) if key else None, was=was)


@pytest.mark.parametrize(
    "after",
    [
        (),
        (state("n", "int32"), state("more", "string")),
        (state("n", "int64"),),
        (state("n", "float64"),),
        (state("total", "int64", was="n"),),
        (state("total", "string"),),
        (StateField("n", "value", parse_type("int32"), ttl=timedelta(hours=1), default=5),),
    ],
)
def test_fields_may_be_added_dropped_renamed_and_widened(after: tuple[StateField, ...]) -> None:
    check_change("count", (state("n", "int32"),), after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (state("n", "int64"), state("n", "string")),
        (state("n", "int64"), state("n", "int32")),
        (state("n", "float64"), state("n", "int64")),
        (state("n", "int64"), state("n", "int64", "list")),
        (state("n", "int64"), state("total", "string", was="n")),
        (state("n", "int64", "map", key="string"), state("n", "int64", "map", key="int64")),
        (state("n", "struct<a: string>"), state("n", "struct<a: int64>")),
        (state("n", "array<string>"), state("n", "array<int64>")),
    ],
)
def test_a_wrong_change_names_the_process_the_state_and_both_forms(
    before: StateField, after: StateField
) -> None:
    with pytest.raises(StateError) as caught:
        check_change("count", (before,), (after,))
    assert caught.value.code == "STATE_CHANGE"
    for part in ('"n"', '"count"', str(before), str(after)):
        assert part in caught.value.fact


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("decimal(4, 2)", "decimal(6, 2)", True),
        ("decimal(4, 2)", "decimal(6, 4)", True),
        ("decimal(4, 2)", "decimal(4, 3)", False),
        ("struct<a: int32, b: string>", "struct<a: int64, c: date>", True),
        ("array<int32>", "array<float64>", True),
        ("map<int32>", "map<string>", False),
        ("timestamp", "date", False),
    ],
)
def test_a_type_widens_another_where_it_has_room_for_its_values(
    before: str, after: str, expected: bool
) -> None:
    assert widens(parse_type(before), parse_type(after)) is expected
