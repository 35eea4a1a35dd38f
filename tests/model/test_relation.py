"""The columns of a step are made once, however often they are asked for."""

from __future__ import annotations

import pytest

from penstock.errors import SchemaError
from penstock.model import stateless
from penstock.model.expr import Column
from penstock.model.relation import Relation
from penstock.model.source import Stream
from penstock.model.stateless import Named, Project
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT64

STREAM = Stream("t", Schema((Field("a", INT64), Field("b", INT64))))


def chosen(source: Relation, name: str) -> Project:
    return Project(source, (Named(name, Column(name)),))


def test_the_columns_of_a_step_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    whole = stateless._result

    def counted(column: Named, known: Schema) -> Field:
        made.append(column.name)
        return whole(column, known)

    monkeypatch.setattr(stateless, "_result", counted)
    step: Relation = STREAM
    for _ in range(10):
        step = chosen(step, "a")
    assert [step.schema.names for _ in range(3)] == [("a",)] * 3
    assert len(made) == 10


def test_steps_that_are_equal_have_equal_columns_and_others_their_own() -> None:
    one, same, other = chosen(STREAM, "a"), chosen(STREAM, "a"), chosen(STREAM, "b")
    assert one == same
    assert one.schema == same.schema
    assert other.schema.names == ("b",)


def test_columns_that_cannot_be_made_are_an_error_each_time() -> None:
    for _ in range(2):
        with pytest.raises(SchemaError, match="COLUMN_MISSING"):
            chosen(chosen(STREAM, "a"), "b")
