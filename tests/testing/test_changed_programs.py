"""States of a program become those of a changed one: what was remembered before counts on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest

import penstock as ps
from penstock.errors import StateError
from penstock.front.dsl.states import renamed
from penstock.front.dsl.stream import Stream
from penstock.model.processor import Context
from penstock.testing.driver import TestDriver

Row = dict[str, Any]
Build = Callable[[Stream], Any]
SCHEMA = {"user": "string", "n": "int32", "page": "string", "at": "int64"}
WIDE = {**SCHEMA, "n": "int64"}
MORE = {**SCHEMA, "extra": "string"}


def driver(build: Build, schema: dict[str, str] = SCHEMA, *, event_time: str = "at") -> TestDriver:
    app = ps.App("shop")
    stream = app.stream("in", schema=schema, event_time=event_time)
    build(stream).to("out")
    return app.test()


def row(at: int, user: str = "ann", n: int = 1, page: str = "/", **more: Any) -> Row:  # noqa: ANN401
    return {"user": user, "n": n, "page": page, "at": at, **more}


def changed(
    before: TestDriver, after: TestDriver, first: list[Row], second: list[Row]
) -> list[Row]:
    """Give what the changed program makes of the second rows after the first were remembered."""
    before.push("in", first)
    after.restore(before.snapshot())
    after.push("in", second)
    return after.rows("out")


def aggregated(**measures: Any) -> Build:  # noqa: ANN401
    return lambda stream: stream.group_by("user").agg(**measures)


FIRST = [row(0, n=1, page="/a"), row(1, "bob", n=2), row(2, n=3, page="/b")]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"total": ps.sum("n")}, {"total": ps.sum("n"), "most": ps.max("n")}, (14, 10)),
        ({"a": ps.min("n"), "total": ps.sum("n")}, {"total": ps.sum("n")}, (14,)),
        ({"total": ps.sum("n")}, {"sum": ps.sum("n")}, (14,)),
        ({"x": ps.count(), "y": ps.avg("n")}, {"y": ps.avg("n"), "x": ps.count()}, (14 / 3, 3)),
        ({"x": ps.max("n")}, {"pages": ps.count_distinct("page"), "x": ps.max("n")}, (1, 10)),
        ({"x": ps.max("n")}, {"pages": ps.collect_list("page"), "x": ps.max("n")}, (["/c"], 10)),
        ({"x": ps.max("n")}, {"last": ps.last("page"), "first": ps.first("page")}, ("/c", "/c")),
        ({"x": ps.last("page")}, {"n": ps.sum("n"), "x": ps.first("page")}, None),
        ({"x": ps.max("n")}, {"x": ps.max("n"), "rows": ps.count()}, (10, 3)),
        (
            {"pages": ps.count_distinct("page")},
            {"rows": ps.count(), "all": ps.collect_set("page"), "pages": ps.count_distinct("page")},
            (3, ["/c"], 3),
        ),
        (
            {"x": ps.count_distinct(ps.col("n") + 1)},
            {"y": ps.count_distinct(ps.col("n") * 0), "x": ps.count_distinct(ps.col("n") + 1)},
            (1, 3),
        ),
        (
            {"mid": ps.quantile("n", 0.5)},
            {"pages": ps.approx_count_distinct("page"), "many": ps.count_distinct("n"),
             "mid": ps.quantile("n", 0.5)},
            (1, 3, 3.0),
        ),
    ],
)  # fmt: skip
def test_measures_come_and_go_and_those_that_stay_count_on(
    before: Row, after: Row, expected: tuple[Any, ...] | None
) -> None:
    def found() -> list[Row]:
        return changed(
            driver(aggregated(**before)),
            driver(aggregated(**after)),
            FIRST,
            [row(3, n=10, page="/c")],
        )

    if expected is None:
        with pytest.raises(StateError, match="STATE_CHANGE"):
            found()
        return
    assert found() == [{"user": "ann", **dict(zip(after, expected, strict=True))}]


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        (ps.sum("n"), 2**40 + 4),
        (ps.avg("n"), (2**40 + 4) / 3),
        (ps.max("n"), 2**40),
        (ps.min("n"), 1),
        (ps.last("n"), 2**40),
        (ps.count_distinct("n"), 3),
        (ps.approx_count_distinct("n"), 3),
        (ps.collect_list("n"), [1, 3, 2**40]),
        (ps.top_k("n", 2), [2**40, 3]),
        (ps.quantile("n", 0.5), 3.0),
        (ps.sum(ps.col("n") + 0), 2**40 + 4),
    ],
)
def test_numbers_that_are_added_up_may_become_longer(measure: Any, expected: object) -> None:  # noqa: ANN401
    found = changed(
        driver(aggregated(x=measure)),
        driver(aggregated(x=measure), WIDE),
        FIRST,
        [row(3, n=2**40)],
    )
    assert found == [{"user": "ann", "x": expected}]


def windowed(**measures: Any) -> Build:  # noqa: ANN401
    def build(stream: Stream) -> Any:  # noqa: ANN401
        grouped = stream.group_by("user").window(ps.tumbling("10s"))
        return grouped.refine(ps.retracting()).trigger(ps.each_row()).agg(**measures)

    return build


def test_a_result_that_was_given_without_a_measure_is_taken_back_without_it() -> None:
    found = changed(
        driver(windowed(total=ps.sum("n"), least=ps.min("n"))),
        driver(windowed(most=ps.max("n"), total=ps.sum("n"))),
        [row(0, n=1), row(1, n=3)],
        [row(2, n=10)],
    )
    told = [(item["_weight"], item["most"], item["total"]) for item in found]
    assert told == [(-1, None, 4), (1, 10, 14)]


@pytest.mark.parametrize(
    "window",
    [ps.hopping("10s", "5s"), ps.session("10s"), ps.tumbling("10s"), ps.sliding("10s")],
)
def test_windows_that_are_open_take_a_new_measure(window: Any) -> None:  # noqa: ANN401
    def build(**measures: Any) -> Build:  # noqa: ANN401
        return lambda stream: stream.group_by("user").window(window).agg(**measures)

    after = driver(build(most=ps.max("n"), total=ps.sum("n")))
    changed(driver(build(total=ps.sum("n"))), after, [row(0, n=5)], [row(1000, n=3)])
    after.finish()
    last = after.rows("out")[-1]
    # A sliding window keeps its rows, and so has all of them.
    rows_kept = window == ps.sliding("10s")
    assert (last["total"], last["most"]) in {(8, 5 if rows_kept else 3), (3, 3)}
    whole = [item for item in after.rows("out") if item["total"] == 8]
    assert [item["most"] for item in whole] == [5 if rows_kept else 3] * len(whole)
    assert whole


def test_rows_of_a_buffer_are_kept_with_their_new_columns() -> None:
    def build(**measures: Any) -> Build:  # noqa: ANN401
        window = ps.count_window(2, 1)
        return lambda stream: stream.group_by("user").window(window).agg(**measures)

    found = changed(
        driver(build(n=ps.sum("n"), page=ps.last("page"))),
        driver(build(n=ps.sum("n"), extra=ps.collect_list("extra")), MORE),
        [row(0, n=5)],
        [row(1, n=3, extra="e")],
    )
    assert [(item["n"], item["extra"]) for item in found] == [(8, ["e"])]


def latest(*columns: str) -> Build:
    def build(stream: Stream) -> Any:  # noqa: ANN401
        return stream.select(*columns).to_table("user").changes()

    return build


def test_the_rows_of_a_table_get_columns_lose_them_and_become_wider() -> None:
    after = driver(latest("user", "extra", "n", "at"), {**MORE, "n": "int64"})
    found = changed(
        driver(latest("user", "n", "page", "at")), after, FIRST, [row(5, n=2**40, extra="e")]
    )
    assert found == [
        {"user": "ann", "extra": None, "n": 3, "at": 2, "_weight": -1},
        {"user": "ann", "extra": "e", "n": 2**40, "at": 5, "_weight": 1},
    ]


def test_the_best_rows_keep_their_places_when_columns_come_and_go() -> None:
    def best(*columns: str) -> Build:
        return lambda stream: stream.select(*columns).top_n(2, by="n", group="user")

    found = changed(
        driver(best("user", "n", "page", "at")),
        driver(best("user", "n", "extra", "at"), MORE),
        [row(0, n=5), row(1, n=7)],
        [row(2, n=6, extra="e")],
    )
    told = [(item["n"], item["extra"], item["_weight"]) for item in found]
    assert told == [(5, None, -1), (6, "e", 1)]


def joined(*columns: str) -> Build:
    def build(stream: Stream) -> Any:  # noqa: ANN401
        left = stream.filter(ps.col("page") == "left").select(*columns)
        right = stream.filter(ps.col("page") == "right").select("user", "n", "at")
        return left.join(right, on="user", within="1 hour")

    return build


def test_rows_that_wait_for_a_partner_get_a_new_column() -> None:
    found = changed(
        driver(joined("user", "page", "at")),
        driver(joined("user", "extra", "at"), MORE),
        [row(0, page="left")],
        [row(1, page="right", n=9), row(2, page="left", extra="e")],
    )
    assert sorted((item["extra"] or "", item["n"]) for item in found) == [("", 9), ("e", 9)]


def test_rows_of_a_joined_table_that_become_alike_are_one() -> None:
    def tables(*columns: str) -> Build:
        def build(stream: Stream) -> Any:  # noqa: ANN401
            left = stream.filter(ps.col("page") != "right").to_table("page")
            right = stream.filter(ps.col("page") == "right").to_table("user").select("user", "n")
            return left.join(right, on="user").changes().select(*columns)

        return build

    before = driver(tables("page", "at", "n_right"))
    after = driver(tables("at", "n_right"))
    first = [row(0, page="/a"), row(0, page="/b"), row(1, page="right", n=4)]
    found = changed(before, after, first, [row(2, page="right", n=5)])
    told = sorted((item["_weight"], item["n_right"]) for item in found)
    assert told == [(-1, 4), (-1, 4), (1, 5), (1, 5)]
    after.push("in", [row(7, page="/a"), row(7, page="/b")])
    net: Counter[tuple[int, int]] = Counter()
    for item in after.rows("out"):
        net[item["at"], item["n_right"]] += item["_weight"]
    assert {place: count for place, count in net.items() if count} == {(0, 4): -2, (7, 5): 2}


def test_a_look_into_the_history_of_a_table_sees_null_in_a_new_column() -> None:
    def looked_up(*columns: str) -> Build:
        def build(stream: Stream) -> Any:  # noqa: ANN401
            table = stream.filter(ps.col("page") == "right").to_table("user").select(*columns)
            left = stream.filter(ps.col("page") == "left").select("user", "n", "at")
            return left.join(table, on="user", how="left", as_of="event time", wait=True)

        return build

    before = driver(looked_up("user", "page"))
    after = driver(looked_up("user", "page", "extra"), MORE)
    found = changed(before, after, [row(0, page="right")], [row(5, page="left")])
    after.finish()
    assert [(item["page"], item["extra"]) for item in after.rows("out")] == [("right", None)]
    assert found in ([], after.rows("out"))


@pytest.mark.parametrize("words", [{"as_of": "arrival"}, {"as_of": "event time", "wait": True}])
def test_what_a_row_was_answered_with_is_taken_back_with_null_in_a_new_column(words: Any) -> None:  # noqa: ANN401
    def answered(*columns: str) -> Build:
        def build(stream: Stream) -> Any:  # noqa: ANN401
            table = stream.filter(ps.col("page") == "right").to_table("user").select(*columns)
            left = stream.filter(ps.col("page") == "left").to_table("user").changes()
            return left.select("user", "n", "at").join(table, on="user", **words)

        return build

    before = driver(answered("user", "page"))
    after = driver(answered("user", "extra", "page"), MORE)
    first = [row(0, page="right"), row(1, page="left", n=4), row(9, "bob")]
    changed(before, after, first, [row(20, page="left", n=5)])
    after.finish()
    told = [(item["n"], item["extra"], item["_weight"]) for item in after.rows("out")]
    assert (4, None, -1) in told
    assert (5, None, 1) in told


def test_versions_of_rows_and_first_rows_of_a_changelog_get_new_columns() -> None:
    for build in (
        lambda table: table.versions(keep="1 hour").changes(),
        lambda table: table.changes().dedup("page"),
    ):

        def program(*columns: str, build: Any = build) -> Build:  # noqa: ANN401
            return lambda stream: build(stream.select(*columns).to_table("user"))

        before = driver(program("user", "page", "n", "at"))
        after = driver(program("user", "extra", "page", "at"), MORE)
        found = changed(before, after, [row(0)], [row(5, extra="e")])
        told = [(item["extra"], item["_weight"]) for item in found]
        assert told[0] == (None, -1)
        assert ("e", 1) in told


class Before(NamedTuple):
    mail: str
    visits: int


@dataclass
class Address:
    postcode: str = "none"
    town: str | None = None


@dataclass
class Profile:
    email: str
    visits: float
    address: Address
    level: int = 3


def remembers(state: dict[str, Any], *, function: Any = None, in_order: bool = False) -> Build:  # noqa: ANN401
    def told(row: Row, state: Any, ctx: Context) -> Row:  # noqa: ANN401
        return {"user": row["user"], "told": str(state.profile.value)}

    def build(stream: Stream) -> Any:  # noqa: ANN401
        return stream.group_by("user").process(
            function or told,
            schema={"user": str, "told": str},
            state=state,
            name="profiles",
            in_order=in_order,
        )

    return build


def writes(value: Any) -> Any:  # noqa: ANN401
    def write(row: Row, state: Any, ctx: Context) -> None:  # noqa: ANN401
        state.profile.value = value

    return write


def told(state: Any, value: Any, before: Any = Before) -> str:  # noqa: ANN401
    """Give what a changed process finds in the place of a value that was remembered."""
    old = driver(remembers({"profile": ps.value_state(before)}, function=writes(value)))
    found = changed(old, driver(remembers({"profile": state})), [row(0)], [row(1)])
    return str(found[0]["told"])


def test_fields_of_a_class_are_renamed_widened_dropped_and_have_their_defaults() -> None:
    state = ps.value_state(Profile, version=2, migrations={2: renamed("mail", "email")})
    found = told(state, Before("a@b", 4))
    assert found == str(Profile("a@b", 4.0, None, 3))  # type: ignore[arg-type]


def test_a_function_makes_values_anew() -> None:
    def profile(old: Row) -> Row:
        return {
            "email": old["mail"],
            "visits": old["visits"] + 0.5,
            "address": Address(town="Bern"),
        }

    state = ps.value_state(Profile, version=2, migrations={2: profile})
    found = told(state, Before("a@b", 4))
    assert found == str(Profile("a@b", 4.5, Address("none", "Bern"), 3))


def test_versions_that_were_skipped_are_caught_up_with_in_their_order() -> None:
    state = ps.value_state(
        int, version=4, migrations={2: renamed("mail", "post"), 4: [dict.items, list, len]}
    )
    assert told(state, Before("a@b", 4)) == "2"


def test_what_a_function_gives_nothing_for_is_forgotten() -> None:
    state = ps.value_state(str, version=2, migrations={2: lambda _: None})
    assert told(state, Before("a@b", 4)) == "None"


def test_items_of_lists_and_values_of_maps_are_migrated_one_by_one() -> None:
    def fill(row: Row, state: Any, ctx: Context) -> None:  # noqa: ANN401
        state.items.append({"a": row["n"]})
        state.pages[row["n"]] = {"x": {"y": row["n"]}}

    def tell(row: Row, state: Any, ctx: Context) -> Row:  # noqa: ANN401
        return {"user": ctx.key, "told": f"{list(state.things)} {dict(state.pages)} {row['n']}"}

    before = {
        "items": ps.list_state("struct<a: int32>"),
        "pages": ps.map_state("int32", "struct<x: struct<y: int32>>"),
    }
    after = {
        "things": ps.list_state(int, was="items", version=2, migrations={2: lambda i: i["a"] * 2}),
        "pages": ps.map_state(
            int,
            "struct<x: struct<z: int64, w: string>>",
            version=2,
            migrations={2: renamed("x.y", "z")},
        ),
    }
    found = changed(
        driver(remembers(before, function=fill)),
        driver(remembers(after, function=tell)),
        [row(0, n=1), row(1, n=2)],
        [row(2, n=3)],
    )
    maps = {1: {"x": {"z": 1, "w": None}}, 2: {"x": {"z": 2, "w": None}}}
    assert found[0]["told"] == f"[2, 4] {maps} 3"


def test_a_migration_is_done_once() -> None:
    def more(old: int) -> int:
        return old + 100

    def count(row: Row, state: Any, ctx: Context) -> Row:  # noqa: ANN401
        state.n.value = (state.n.value or 0) + 1
        return {"user": "", "told": str(state.n.value)}

    old = driver(remembers({"n": ps.value_state(int)}, function=count))
    state = {"n": ps.value_state(int, version=2, migrations={2: more})}
    new = driver(remembers(state, function=count))
    assert changed(old, new, [row(0)], [row(1)])[-1]["told"] == "102"
    again = driver(remembers(state, function=count))
    again.restore(new.snapshot())
    again.push("in", [row(2)])
    assert again.rows("out")[-1]["told"] == "103"


def test_a_function_that_fails_or_gives_something_else_is_told_with_its_value() -> None:
    for function in (lambda old: old["nothing"], lambda old: old):
        state = ps.value_state(int, version=2, migrations={2: function})
        with pytest.raises(StateError, match="STATE_MIGRATION") as caught:
            told(state, Before("a@b", 4))
        assert 'state "profile"' in caught.value.fact


def test_rows_that_wait_for_the_watermark_get_new_columns() -> None:
    def tell(row: Row, state: Any, ctx: Context) -> Row:  # noqa: ANN401
        return {"user": row["user"], "told": f"{row['n']} {row.get('extra')} {row.get('page')}"}

    before = driver(remembers({}, function=tell, in_order=True))
    columns = {name: kind for name, kind in MORE.items() if name != "page"}
    after = driver(remembers({}, function=tell, in_order=True), columns)
    before.push("in", [row(0, n=4)])
    after.restore(before.snapshot())
    after.push("in", [{"user": "bob", "n": 5, "at": 1, "extra": "e"}])
    after.finish()
    assert [item["told"] for item in after.rows("out")] == ["4 None None", "5 e None"]


def test_a_name_that_is_used_again_is_not_taken_for_the_old_state() -> None:
    def count(row: Row, state: Any, ctx: Context) -> Row:  # noqa: ANN401
        state.n.value = (state.n.value or 0) + 1
        return {"user": "", "told": str(state.n.value)}

    def both(row: Row, state: Any, ctx: Context) -> Row:  # noqa: ANN401
        return {"user": "", "told": f"{state.n.value} {state.total.value}"}

    before = driver(remembers({"n": ps.value_state(int)}, function=count))
    after = {"total": ps.value_state(int, was="n"), "n": ps.value_state(int)}
    new = driver(remembers(after, function=both))
    assert changed(before, new, [row(0)], [row(1)])[-1]["told"] == "None 1"
