from __future__ import annotations

import polars as pl
import pytest

from penstock.errors import ConfigError
from penstock.schema.schema import Field, Schema
from penstock.schema.types import FLOAT64, INT64, STRING
from penstock.watch.condition import condition_of
from penstock.watch.judge import judge_of
from penstock.watch.rule_document import alert_rule

SCHEMA = Schema((Field("pageid", STRING), Field("count", INT64), Field("Share", FLOAT64)))
ROWS = pl.DataFrame(
    {"pageid": ["P1", "P2", None], "count": [12, 3, None], "Share": [0.5, None, 2.0]}
)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("count > 10", [True, False, False]),
        ("COUNT + 1 > 12 AND pageid LIKE 'P%'", [True, False, False]),
        ('"Share" >= 0.5', [True, False, True]),
        ("share < 1 OR pageid IS NULL", [True, False, True]),
        ("UCASE(pageid) = 'P2'", [False, True, False]),
    ],
)
def test_a_condition_is_an_expression_of_sql_and_null_is_not_true(
    text: str, holds: list[bool]
) -> None:
    condition = condition_of(text, SCHEMA, "alert")
    assert ROWS.select(condition.expr.alias("holds"))["holds"].to_list() == holds


def test_a_condition_tells_which_columns_it_reads() -> None:
    assert condition_of("count > 10 AND count < 20", SCHEMA, "alert").columns == ("count",)


@pytest.mark.parametrize("text", ["cuont > 1", "count", "count >", "SUM(count) > 1"])
def test_one_that_cannot_be_read_is_refused_with_its_rule(text: str) -> None:
    with pytest.raises(ConfigError, match="ALERT_CONDITION") as caught:
        condition_of(text, SCHEMA, 'alert "a"')
    assert caught.value.fact.startswith('alert "a": ')


def test_columns_that_differ_in_capitals_only_are_named_in_quotes() -> None:
    schema = Schema((Field("a", INT64), Field("A", STRING)))
    assert condition_of('"a" > 1', schema, "alert").columns == ("a",)
    assert condition_of("A = 'x'", schema, "alert").columns == ("A",)


def test_a_condition_that_cannot_be_computed_is_told_with_its_rule() -> None:
    judge = judge_of(alert_rule("r", table="t", when="count > 1"), SCHEMA, ("pageid",))
    with pytest.raises(ConfigError, match="ALERT_CONDITION"):
        judge.judged(judge.keyed(ROWS).drop("count"))
    with pytest.raises(ConfigError, match="ALERT_CONDITION"):
        judge_of(alert_rule("r", table="t", when="count > 1"), SCHEMA, ("page",))
