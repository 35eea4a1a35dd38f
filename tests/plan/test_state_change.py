from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import penstock as ps
from penstock.errors import StateError
from penstock.front.dsl.states import renamed
from penstock.front.dsl.stream import Stream
from penstock.model.physical import Keyed
from penstock.model.state_form import StoredArgument
from penstock.plan.form_document import form_document, read_form
from penstock.plan.planner import plan
from penstock.plan.state_change import check_form, continued
from penstock.plan.state_form import state_form
from penstock.schema.types import INT64

Build = Callable[[Stream], Any]
SCHEMA = {"user": "string", "n": "int64", "price": "decimal(8, 2)", "page": "string", "at": "int64"}


def operator(build: Build, **columns: str) -> Keyed:
    """Give the last operator of a program that reads a topic with these columns."""
    app = ps.App("shop")
    build(app.stream("in", schema={**SCHEMA, **columns}, event_time="at")).to("out")
    return plan(app.plan()).operators[-1]


def judged(before: Keyed, after: Keyed) -> tuple[str, ...]:
    return check_form(after, state_form(before), state_form(after))


def refused(before: Keyed, after: Keyed) -> StateError:
    with pytest.raises(StateError) as caught:
        judged(before, after)
    return caught.value


def counted(window: Any = None, **measures: Any) -> Build:  # noqa: ANN401
    def build(stream: Stream) -> Any:  # noqa: ANN401
        grouped = stream.group_by("user")
        found = measures or {"n": ps.count()}
        return (grouped if window is None else grouped.window(window)).agg(**found)

    return build


def held(**state: Any) -> Build:  # noqa: ANN401
    def build(stream: Stream) -> Any:  # noqa: ANN401
        return stream.group_by("user").process(
            lambda *_: None, schema={"n": int}, state=state, name="count"
        )

    return build


def table(*columns: str, key: str = "user") -> Build:
    def build(stream: Stream) -> Any:  # noqa: ANN401
        return stream.select(*columns).to_table(key).changes()

    return build


BUILDS: list[Build] = [
    counted(),
    counted(ps.tumbling("1 minute"), total=ps.sum("n"), most=ps.max(ps.col("n") + 1)),
    counted(ps.count_window(3), total=ps.sum("price")),
    counted(ps.sliding("10s"), total=ps.sum("n")),
    held(n=int, l=ps.list_state("struct<`a b`: decimal(4, 2)>"), m=ps.map_state("date", "date")),
    table("user", "n", "at"),
    lambda stream: stream.dedup("user"),
    lambda stream: stream.dedup(),
    lambda stream: stream.top_n(3, by="n", group="user"),
    lambda stream: stream.to_table("user").versions().changes(),
    lambda stream: stream.join(stream.filter(ps.col("n") > 1), on="user", within="1h"),
    lambda stream: stream.join(stream.to_table("user"), on="user"),
]  # fmt: skip


@pytest.mark.parametrize("build", BUILDS)
def test_a_form_is_read_back_as_it_was_written(build: Build) -> None:
    form = state_form(operator(build))
    again = read_form(json.loads(json.dumps(form_document(form))))
    assert again == form
    assert judged(operator(build), operator(build)) == ()


@pytest.mark.parametrize("build", BUILDS)
def test_no_operator_takes_the_state_of_another(build: Build) -> None:
    others = [other for other in BUILDS if other is not build]
    kind = type(operator(build).relation)
    for other in others:
        after = operator(other)
        if not isinstance(after.relation, kind):
            error = refused(operator(build), after)
            assert error.code == "CHECKPOINT_PROGRAM"
            assert f'operator "{after.id}" keeps the state of' in error.fact


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (
            counted(ps.tumbling("1 minute")),
            counted(ps.tumbling("2 minutes")),
            "its window was tumbling 1m and is tumbling 2m now",
        ),
        (counted(), counted(ps.tumbling("1m")), "its window was all time and is tumbling 1m now"),
        (
            lambda stream: stream.top_n(3, by="n"),
            lambda stream: stream.top_n(4, by="n"),
            "its choice was 3 greatest n and is 4 greatest n now",
        ),
        (
            lambda stream: stream.join(stream.filter(ps.col("n") > 1), on="user", within="1h"),
            lambda stream: stream.join(stream.filter(ps.col("n") > 1), on="user", within="2h"),
            "its bound has changed",
        ),
        (
            lambda stream: stream.group_by("user").process(print, schema={"n": int}, name="a"),
            lambda stream: stream.group_by("user").process(print, schema={"n": int}, name="b"),
            "its name was a and is b now",
        ),
    ],
)
def test_what_a_state_follows_from_may_not_change(before: Build, after: Build, said: str) -> None:
    error = refused(operator(before), operator(after))
    assert error.code == "CHECKPOINT_PROGRAM"
    assert said in error.fact
    assert "new checkpoint" in error.hint


def test_a_key_may_not_change() -> None:
    error = refused(operator(table("user", "n", "at")), operator(table("user", "n", "at", key="n")))
    assert error.code == "STATE_KEY"
    assert "keeps its state by user string, and its key is n int64 now" in error.fact
    error = refused(operator(counted()), operator(counted(), user="int64"))
    assert error.code == "STATE_KEY"
    assert "by user string, and its key is user int64 now" in error.fact
    assert refused(operator(BUILDS[7]), operator(BUILDS[7], more="date")).code == "STATE_KEY"


def test_columns_of_kept_rows_may_be_more_fewer_and_wider() -> None:
    before = operator(table("user", "n", "page", "at"), n="int32")
    after = operator(table("user", "n", "price", "at"), n="float64")
    assert judged(before, after) == ()
    error = refused(after, before)
    assert error.code == "STATE_CHANGE"
    assert 'keeps rows whose column "n" is float64, and int32 is declared now' in error.fact
    assert error.hint.startswith("Let it be float64 or something wider")


def test_a_column_that_goes_beside_one_like_it_that_comes_is_told() -> None:
    before, after = table("user", "page", "at"), table("user", "side", "at")
    (text,) = judged(operator(before), operator(after, side="string"))
    assert 'drops column "page", and "side" of the same type is null' in text


def test_a_new_measure_counts_from_now_on_and_one_that_goes_is_not_told() -> None:
    before, after = counted(a=ps.sum("n")), counted(b=ps.max("n"))
    (text,) = judged(operator(before), operator(after))
    assert 'new measure "b" = max(n): groups that have rows already count it from now on' in text
    assert judged(operator(counted(a=ps.sum("n"), b=ps.max("n"))), operator(before)) == ()
    assert judged(operator(before), operator(counted(a=ps.sum("n"), rows=ps.count()))) == ()
    assert judged(operator(before), operator(counted(total=ps.sum("n")))) == ()


def test_where_rows_are_kept_a_new_measure_has_all_of_them() -> None:
    window = ps.count_window(3)
    assert judged(operator(counted(window)), operator(counted(window, x=ps.max("n")))) == ()


@pytest.mark.parametrize(
    ("before", "after", "columns", "said"),
    [
        (ps.sum("n"), ps.max("n"), {}, 'keeps "x" = sum(n), and it is max(n) now'),
        (ps.sum("n"), ps.sum(ps.col("n") + 1), {}, 'keeps "x" = sum(n), and it is sum(n + 1) now'),
        (ps.sum("n"), ps.sum("n"), {"n": "float64"}, "of int64, and it is of float64 now"),
        (ps.sum("n"), ps.sum("n"), {"n": "int32"}, "of int64, and it is of int32 now"),
        (ps.sum("price"), ps.sum("price"), {"price": "decimal(8, 4)"}, "decimal(8, 4) now"),
    ],
)
def test_a_measure_may_not_become_another(
    before: Any,  # noqa: ANN401
    after: Any,  # noqa: ANN401
    columns: dict[str, str],
    said: str,
) -> None:
    error = refused(operator(counted(x=before)), operator(counted(x=after), **columns))
    assert error.code == "STATE_CHANGE"
    assert said in error.fact
    assert "another name" in error.hint


def test_decimals_that_are_added_up_may_have_more_digits() -> None:
    build = counted(x=ps.sum("price"))
    assert judged(operator(build), operator(build, price="decimal(12, 2)")) == ()


def test_a_measure_is_not_added_where_rows_it_has_not_seen_may_be_taken_back() -> None:
    def over_a_table(**measures: Any) -> Build:  # noqa: ANN401
        return lambda stream: stream.to_table("user").group_by("page").agg(**measures)

    before = operator(over_a_table(rows=ps.count()))
    error = refused(before, operator(over_a_table(rows=ps.count(), total=ps.sum("n"))))
    assert error.code == "STATE_CHANGE"
    assert "rows it has not seen may be taken back" in error.fact


def test_an_average_is_not_added_where_the_rows_so_far_would_count_in_it() -> None:
    before, after = operator(counted(rows=ps.count())), operator(counted(mean=ps.avg("n")))
    assert judged(before, after) != ()
    form = state_form(after)
    argument = StoredArgument("n", form.measures[0].arguments[0].mark, INT64, nullable=False)
    strict = replace(form, measures=(replace(form.measures[0], arguments=(argument,)),))
    with pytest.raises(StateError, match="would count as zeros"):
        check_form(after, state_form(before), strict)


def test_a_renamed_measure_goes_on_with_what_it_has() -> None:
    before = state_form(operator(counted(a=ps.sum("n"), b=ps.max("n"), c=ps.sum("n"))))
    after = state_form(
        operator(counted(b=ps.max("n"), c=ps.sum("n"), d=ps.sum("n"), e=ps.min("n")))
    )
    assert continued(before.measures, after.measures) == {"b": 1, "c": 2, "d": 0}


def test_states_of_a_process_are_judged_by_what_they_hold() -> None:
    before = operator(held(n=ps.value_state("struct<mail: string, visits: int64>")))
    after = held(n=ps.value_state("struct<email: string, visits: int64>"))
    (text,) = judged(before, operator(after))
    assert 'migrations={2: ps.renamed("mail", "email")}' in text
    declared = ps.value_state(
        "struct<email: string, visits: int64>",
        version=2,
        migrations={2: renamed("mail", "email")},
    )
    assert judged(before, operator(held(n=declared))) == ()
    error = refused(operator(held(n=declared)), before)
    assert error.code == "STATE_VERSION"
    assert "stored in version 2, and version 1 is declared now" in error.fact
