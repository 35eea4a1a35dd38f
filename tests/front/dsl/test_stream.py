from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import penstock as ps
from penstock.errors import ModelError, PenstockError, SchemaError
from penstock.front.dsl.stream import Grouped, Results, Windowed
from penstock.model.aggregate import Aggregate
from penstock.model.dedup import Dedup
from penstock.model.expr import Column
from penstock.model.measure import Measure
from penstock.model.stateless import Apply, Expect, Filter, Named, Project, Rekey, Restamp, Union
from penstock.model.top_n import TopN
from tests.front.dsl.shop import page_views

HERE = Path(__file__).name
VIEWS = page_views()
SOURCE = VIEWS.relation
MINUTE = timedelta(minutes=1)


class Word(NamedTuple):
    word: str
    size: int


def words(row: dict[str, Any]) -> Iterator[Word]:
    for word in row["userid"].split():
        yield Word(word, len(word))


def upper(row: dict[str, Any]) -> Word:
    return Word(row["userid"].upper(), 0)


def test_rows_are_filtered_by_an_expression_or_a_function() -> None:
    assert VIEWS.filter(ps.col("ok")).relation == Filter(SOURCE, Column("ok"))

    def chosen(row: dict[str, Any]) -> bool:
        return bool(row["ok"])

    expected = Apply(SOURCE, "chosen", chosen, "filter", SOURCE.schema)
    assert VIEWS.filter(chosen).relation == expected


def test_columns_are_selected_and_computed() -> None:
    stream = VIEWS.select(
        "userid", ps.col("seconds").alias("s"), cents=ps.col("price") * 100, one=1
    )
    assert str(stream.schema) == "userid string, s int64, cents float64, one int32"


def test_columns_are_added_and_replaced_in_place() -> None:
    stream = VIEWS.select("userid", "price").with_columns(price=ps.col("price") / 2, n=0)
    assert str(stream.schema) == "userid string, price float64, n int32"
    assert isinstance(stream.relation, Project)
    assert stream.relation.columns[0] == Named("userid", Column("userid"))


def test_columns_are_dropped_and_renamed() -> None:
    stream = VIEWS.select("userid", "price", "ok").drop("ok")
    assert stream.rename(userid="user").schema.names == ("user", "price")
    assert stream.rename({"price": "cost"}, userid="user").schema.names == ("user", "cost")


def test_functions_of_rows_give_what_they_are_annotated_with() -> None:
    gives = VIEWS.map(upper).schema
    assert str(gives) == "word string, size int64"
    assert VIEWS.flat_map(words).relation == Apply(SOURCE, "words", words, "flat_map", gives)


def test_functions_of_rows_give_what_is_said() -> None:
    stream = VIEWS.map(lambda _: {"n": 1}, schema={"n": int})
    assert str(stream.schema) == "n int64"
    assert stream.relation.name == "<lambda>"  # type: ignore[attr-defined]


def test_functions_of_tables_keep_the_columns_unless_others_are_said() -> None:
    assert VIEWS.map_batches(lambda table: table).schema == VIEWS.schema
    stream = VIEWS.map_batches(lambda table: table, schema={"n": int}, library="arrow")
    assert stream.relation.shape == "arrow"  # type: ignore[attr-defined]
    assert str(stream.schema) == "n int64"


def test_streams_are_united_rekeyed_restamped_and_expected_to_be_good() -> None:
    good = VIEWS.filter(ps.col("ok"))
    assert VIEWS.union(good).relation == Union((SOURCE, good.relation))
    assert VIEWS.key_by("userid").relation == Rekey(SOURCE, ("userid",))
    assert VIEWS.with_event_time("seconds").relation == Restamp(SOURCE, "seconds")
    checked = VIEWS.expect("good", ps.col("ok"), otherwise="drop")
    assert checked.relation == Expect(SOURCE, "good", Column("ok"), "drop")
    assert VIEWS.expect("good", "ok").relation == Expect(SOURCE, "good", Column("ok"))


def test_doubles_and_the_best_rows_are_found() -> None:
    assert VIEWS.dedup("userid", within="1m").relation == Dedup(SOURCE, ("userid",), MINUTE)
    assert VIEWS.dedup().relation == Dedup(SOURCE, SOURCE.schema.names)
    best = TopN(SOURCE, ("regionid",), "price", 3)
    assert VIEWS.top_n(3, by="price", group="regionid").relation == best
    least = TopN(SOURCE, (), "price", 3, descending=False)
    assert VIEWS.top_n(3, by="price", descending=False).relation == least


def test_the_four_questions_are_answered_in_any_order() -> None:
    where, when, how = ps.tumbling("1m"), ps.each_row(), ps.discarding()
    grouped = VIEWS.group_by("regionid")
    one = grouped.window(where).trigger(when).refine(how).agg(n=ps.count())
    other = grouped.refine(how).trigger(when).window(where).agg(n=ps.count())
    expected = Aggregate(SOURCE, ("regionid",), (Measure("n", "count"),), where, when, how)
    assert one.relation == other.relation == expected


def test_a_changed_answer_leaves_the_others_alone() -> None:
    asked = VIEWS.group_by("regionid").window(ps.tumbling("1m")).trigger(ps.each_row())
    assert asked.trigger(ps.never()).where == asked.where
    assert asked.when == ps.each_row()


def test_each_step_has_its_type() -> None:
    grouped = VIEWS.group_by("regionid")
    assert type(grouped) is Grouped
    assert type(grouped.trigger(ps.each_row())) is Grouped
    assert type(grouped.window(ps.sliding("1m"))) is Windowed
    assert type(grouped.window(ps.tumbling("1m")).refine(ps.discarding())) is Windowed
    assert type(grouped.count()) is Results
    assert type(grouped.count().to_stream()) is ps.Stream


def test_all_rows_together_are_aggregated_without_a_group() -> None:
    count = Measure("n", "count")
    assert VIEWS.agg(n=ps.count()).relation == Aggregate(SOURCE, (), (count,))
    windowed = VIEWS.window(ps.tumbling("1m")).count("n").relation
    assert windowed == Aggregate(SOURCE, (), (count,), ps.tumbling("1m"))
    when = VIEWS.trigger(ps.each_batch()).agg(n=ps.count()).relation
    assert when == Aggregate(SOURCE, (), (count,), trigger=ps.each_batch())
    how = VIEWS.refine(ps.retracting()).agg(n=ps.count()).relation
    assert how == Aggregate(SOURCE, (), (count,), refinement=ps.retracting())
    assert VIEWS.count().schema.names == ("count",)


def test_results_tell_their_pane_if_asked_before_or_after() -> None:
    asked = VIEWS.window(ps.tumbling("1m"))
    assert asked.with_panes().count().relation == asked.count().with_panes().relation
    assert "pane_timing" in asked.count().with_panes().schema.names


def test_results_are_streams_for_more_steps() -> None:
    twice = (
        VIEWS.group_by("regionid", "userid")
        .agg(n=ps.count())
        .group_by("regionid")
        .agg(most=ps.max("n"))
    )
    assert str(twice.schema) == "regionid string, most int64"
    assert str(twice.filter(ps.col("most") > 3).schema) == str(twice.schema)


def test_a_stream_shows_its_columns() -> None:
    assert repr(VIEWS.select("userid")) == "Stream(userid string)"


class Case(NamedTuple):
    code: str
    make: Callable[[], object]
    hint: str = ""


def nameless(row: dict[str, Any]) -> dict[str, Any]:
    return row


REFUSED = (
    Case("COLUMN_MISSING", lambda: VIEWS.filter(ps.col("usrid").is_null()), 'mean "userid"'),
    Case("COLUMN_MISSING", lambda: VIEWS.select("usrid"), 'mean "userid"'),
    Case("COLUMN_MISSING", lambda: VIEWS.drop("usrid"), 'mean "userid"'),
    Case("COLUMN_MISSING", lambda: VIEWS.rename(usrid="u"), 'mean "userid"'),
    Case("COLUMN_MISSING", lambda: VIEWS.with_columns(u=ps.col("usrid")), 'mean "userid"'),
    Case("COLUMN_MISSING", lambda: VIEWS.key_by("usrid"), 'mean "userid"'),
    Case("COLUMN_MISSING", lambda: VIEWS.group_by("usrid"), 'mean "userid"'),
    Case("COLUMN_MISSING", lambda: VIEWS.agg(n=ps.sum("prize")), 'mean "price"'),
    Case("COLUMN_MISSING", lambda: VIEWS.dedup("usrid"), 'mean "userid"'),
    Case("COLUMN_MISSING", lambda: VIEWS.top_n(1, by="prize"), 'mean "price"'),
    Case("COLUMN_MISSING", lambda: VIEWS.to("out", key="usrid"), 'mean "userid"'),
    Case("COLUMN_TWICE", lambda: VIEWS.select("userid", userid=1)),
    Case("COLUMN_TWICE", lambda: VIEWS.rename(userid="price")),
    Case("COLUMN_TWICE", lambda: VIEWS.group_by("userid").agg(userid=ps.count())),
    Case("SELECT_EMPTY", VIEWS.select),
    Case("SELECT_EMPTY", lambda: VIEWS.drop(*VIEWS.schema.names)),
    Case("EXPRESSION_NAME", lambda: VIEWS.select(ps.col("price") * 2), "alias"),
    Case("CONDITION_TYPE", lambda: VIEWS.filter(ps.col("price"))),
    Case("EVENT_TIME_TYPE", lambda: VIEWS.with_event_time("userid")),
    Case("FUNCTION_FORM", lambda: VIEWS.filter("price > 3")),  # type: ignore[arg-type]
    Case("FUNCTION_SCHEMA", lambda: VIEWS.map(nameless), "schema="),
    Case("FUNCTION_SCHEMA", lambda: VIEWS.flat_map(lambda row: [row]), "schema="),
    Case("FUNCTION_LIBRARY", lambda: VIEWS.map_batches(nameless, library="pandas")),  # type: ignore[arg-type]
    Case("SCHEMA_FORM", lambda: VIEWS.map(nameless, schema=3)),
    Case("EXPECT_POLICY", lambda: VIEWS.expect("good", ps.col("ok"), otherwise="ignore")),  # type: ignore[arg-type]
    Case("UNION_COLUMNS", lambda: VIEWS.union(VIEWS.select("userid"))),
    Case("PROGRAM_MIXED", lambda: VIEWS.union(page_views()), "one App"),
    Case("DURATION_FORMAT", lambda: VIEWS.dedup("userid", within="soon")),
    Case("TOP_N", lambda: VIEWS.top_n(0, by="price")),
    Case("AGGREGATE_TYPE", lambda: VIEWS.agg(n=ps.avg("userid"))),
    Case("STEP_ARGUMENT", lambda: VIEWS.window("1 minute"), "tumbling"),  # type: ignore[arg-type]
    Case("STEP_ARGUMENT", lambda: VIEWS.trigger("10s"), "every"),  # type: ignore[arg-type]
    Case("STEP_ARGUMENT", lambda: VIEWS.refine("discarding"), "retracting"),  # type: ignore[arg-type]
    Case("STEP_ARGUMENT", lambda: VIEWS.agg(n="sum"), "sum"),  # type: ignore[arg-type]
    Case("STEP_ORDER", lambda: VIEWS.window(ps.sliding("1s")).window(ps.sliding("1s"))),
    Case("STEP_ORDER", lambda: VIEWS.count().window(ps.sliding("1s")), ".window(...) before"),
    Case("STEP_ORDER", lambda: VIEWS.count().trigger(ps.each_row()), ".trigger(...) before"),
    Case("STEP_ORDER", lambda: VIEWS.count().refine(ps.discarding()), ".refine(...) before"),
    Case("TRIGGER_WINDOW", lambda: VIEWS.trigger(ps.when_closed()).count(), ".window(...)"),
    Case("REFINE_WINDOW", lambda: VIEWS.refine(ps.retracting(keep_late="1s")).count()),
)


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.code)
def test_what_makes_no_sense_is_refused_at_its_line(case: Case) -> None:
    with pytest.raises(PenstockError, match=case.code) as caught:
        case.make()
    assert f"({HERE}:" in caught.value.fact
    assert caught.value.fact.count(HERE) == 1
    assert "()" not in caught.value.fact
    assert case.hint in caught.value.hint
    assert isinstance(caught.value, (ModelError, SchemaError))


def test_a_trigger_that_may_end_too_early_is_warned_of() -> None:
    asked = VIEWS.window(ps.tumbling("1m"))
    with pytest.warns(ps.HazardWarning, match="TRIGGER_MAY_FINISH") as told:
        asked.trigger(ps.after_rows(2)).count()
    assert Path(told[0].filename).name == HERE
    with pytest.warns(ps.HazardWarning, match="TRIGGER_MAY_FINISH"):
        asked.trigger(ps.when_closed()).refine(ps.discarding(keep_late="1s")).count()
    assert asked.trigger(ps.when_closed()).count()
