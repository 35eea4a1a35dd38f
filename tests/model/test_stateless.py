from __future__ import annotations

from collections.abc import Callable

import pytest

from penstock.errors import ModelError, SchemaError
from penstock.model.expr import Call, Column, Expr, Literal
from penstock.model.relation import Relation
from penstock.model.source import Stream
from penstock.model.stateless import Apply, Expect, Filter, Named, Project, Rekey, Restamp, Union
from penstock.model.watermark import Punctuated
from penstock.schema.annotation import schema_of
from tests.model.programs import COLUMNS, a_stream

SITE = "shop.py:3"
POSITIVE = Call("gt", (Column("n"), Literal(0)))


def test_a_projection_gives_exactly_its_columns() -> None:
    doubled = Call("multiply", (Column("x"), Literal(2)))
    step = Project(a_stream(), (Named("user", Column("user")), Named("twice", doubled)))
    assert str(step.schema) == "user string, twice float64"


@pytest.mark.parametrize(
    "step",
    [
        Filter(a_stream(), POSITIVE),
        Expect(a_stream(), "positive", POSITIVE),
        Rekey(a_stream(), ("user",)),
        Restamp(a_stream(), "mark"),
        Union((a_stream("a"), a_stream("b"))),
    ],
)
def test_a_step_that_only_looks_keeps_the_columns(step: Relation) -> None:
    assert step.schema == a_stream().schema
    assert not step.retracts


def test_a_step_over_a_changelog_is_a_changelog() -> None:
    assert Filter(a_stream(changelog=True), POSITIVE).retracts
    assert Union((a_stream(), a_stream(changelog=True))).retracts


@pytest.mark.parametrize(
    "make",
    [
        lambda: Project(a_stream(), (Named("y", Column("usr")),), SITE),
        lambda: Filter(a_stream(), Call("is_null", (Column("usr"),)), SITE),
        lambda: Rekey(a_stream(), ("usr",), SITE),
        lambda: Restamp(a_stream(), "usr", SITE),
        lambda: Expect(a_stream(), "e", Call("is_null", (Column("usr"),)), site=SITE),
    ],
)
def test_a_misspelt_column_is_named_with_the_line_it_stands_in(
    make: Callable[[], Relation],
) -> None:
    with pytest.raises(SchemaError, match="COLUMN_MISSING") as caught:
        make()
    assert '"usr" does not exist (shop.py:3)' in caught.value.fact
    assert caught.value.hint == 'Did you mean "user"?'


@pytest.mark.parametrize("condition", [Column("n"), Literal("yes")])
def test_a_condition_is_true_or_false(condition: Expr) -> None:
    with pytest.raises(ModelError, match="CONDITION_TYPE"):
        Filter(a_stream(), condition, SITE)
    with pytest.raises(ModelError, match="CONDITION_TYPE"):
        Expect(a_stream(), "e", condition, site=SITE)


def test_the_streams_of_a_union_have_the_same_columns() -> None:
    other = Project(a_stream(), (Named("user", Column("user")),))
    with pytest.raises(ModelError, match="UNION_COLUMNS"):
        Union((a_stream(), other), SITE)


def test_a_function_gives_the_columns_it_was_said_to() -> None:
    gives = schema_of({"word": str})
    assert Apply(a_stream(), "words", str, "flat_map", gives).schema == gives


@pytest.mark.parametrize("column", ["user", "x", "ok"])
def test_event_time_is_a_time(column: str) -> None:
    with pytest.raises(ModelError, match="EVENT_TIME_TYPE"):
        Stream("t", schema_of(COLUMNS), column)
    with pytest.raises(ModelError, match="EVENT_TIME_TYPE"):
        Restamp(a_stream(), column)
    with pytest.raises(ModelError, match="EVENT_TIME_TYPE") as caught:
        Stream("t", schema_of(COLUMNS), "at", Punctuated(column), site=SITE)
    assert caught.value.fact.startswith(f'watermark column "{column}"')


def test_a_control_row_is_known_by_a_condition() -> None:
    mark = Punctuated("mark", control=Column("ok"))
    assert Stream("t", schema_of(COLUMNS), "at", mark).schema.names[0] == "user"
    with pytest.raises(ModelError, match="CONDITION_TYPE"):
        Stream("t", schema_of(COLUMNS), "at", Punctuated("mark", control=Column("n")))


def test_equal_steps_are_equal_wherever_they_are_written() -> None:
    assert Filter(a_stream(), POSITIVE, "a.py:1") == Filter(a_stream(), POSITIVE, "b.py:2")


def test_a_walk_gives_each_step_once_and_inputs_first() -> None:
    source = a_stream()
    left = Filter(source, POSITIVE)
    step = Union((left, source))
    assert list(step.walk()) == [source, left, step]
