from __future__ import annotations

import pytest

from penstock.errors import ModelError, StateError
from penstock.model.migration import Renamed, renamed_type, renamed_value
from penstock.model.process import StateField
from penstock.schema.text import parse_type
from penstock.schema.types import INT64

DEEP = "struct<a: int64, b: array<struct<c: map<struct<d: date>>>>>"


@pytest.mark.parametrize(
    ("path", "to", "expected"),
    [
        ("a", "z", "struct<z: int64, b: array<struct<c: map<struct<d: date>>>>>"),
        ("b", "z", "struct<a: int64, z: array<struct<c: map<struct<d: date>>>>>"),
        ("b.c.d", "z", "struct<a: int64, b: array<struct<c: map<struct<z: date>>>>>"),
    ],
)
def test_a_field_is_renamed_where_it_is_however_deep(path: str, to: str, expected: str) -> None:
    assert renamed_type(parse_type(DEEP), Renamed(path, to)) == parse_type(expected)


def test_values_are_renamed_as_their_types_are() -> None:
    value = {"a": 1, "b": [{"c": {"k": {"d": 5}}}, None]}
    assert renamed_value(value, Renamed("b.c.d", "z")) == {
        "a": 1,
        "b": [{"c": {"k": {"z": 5}}}, None],
    }
    assert renamed_value(value, Renamed("a", "z"))["z"] == 1
    assert renamed_value(7, Renamed("a", "z")) == 7


@pytest.mark.parametrize(("path", "to"), [("x", "z"), ("a.x", "z"), ("a", "b"), ("b.c.x", "d")])
def test_a_field_that_is_not_there_or_a_name_that_is_taken_is_refused(path: str, to: str) -> None:
    with pytest.raises(StateError, match="STATE_MIGRATION") as caught:
        renamed_type(parse_type(DEEP), Renamed(path, to))
    assert f'renames field "{path}" to "{to}"' in caught.value.fact


@pytest.mark.parametrize(("path", "to"), [("", "b"), ("a", ""), ("a..b", "c"), ("a", "b.c")])
def test_a_rename_names_a_path_and_a_name(path: str, to: str) -> None:
    with pytest.raises(ModelError, match="STATE_FIELD"):
        Renamed(path, to)


def test_the_steps_from_a_version_are_those_to_later_ones() -> None:
    steps = ((2, Renamed("a", "b")), (4, len), (4, str))
    field = StateField("n", "value", INT64, version=5, migrations=steps)
    assert field.steps_from(1) == (Renamed("a", "b"), len, str)
    assert field.steps_from(2) == (len, str)
    assert field.steps_from(4) == ()


@pytest.mark.parametrize(("version", "leads_to"), [(0, None), (1, 2), (3, 1), (3, 4)])
def test_versions_count_from_one_and_migrations_lead_to_one_of_them(
    version: int, leads_to: int | None
) -> None:
    steps = () if leads_to is None else ((leads_to, len),)
    with pytest.raises(ModelError, match="STATE_FIELD"):
        StateField("n", "value", INT64, version=version, migrations=steps)
