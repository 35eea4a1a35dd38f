from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

import penstock as ps
from penstock.errors import ModelError, PenstockError, UsageError
from penstock.front.dsl.stream import Stream, Table
from penstock.model.join import Join
from penstock.model.join_bound import AsOf, Interval, SameWindow, Whole
from penstock.model.latest import Latest
from penstock.model.table_key import table_key
from penstock.model.window import Tumbling

USER = {"id": "int64", "name": "string", "region": "string"}
ORDER = {"order": "string", "user": "int64", "price": "float64", "at": "timestamp"}


def a_shop() -> tuple[ps.App, Table, Stream]:
    app = ps.App("shop")
    return (
        app,
        app.table("users", key="id", schema=USER),
        app.stream("orders", schema=ORDER, event_time="at"),
    )


def refused(code: str, build: Any) -> PenstockError:  # noqa: ANN401
    with pytest.raises(PenstockError) as caught:
        build()
    assert caught.value.code == code
    return caught.value


def test_a_table_knows_its_key_through_every_step_that_keeps_it() -> None:
    _, users, _ = a_shop()
    assert users.key == ("id",)
    assert users.filter(ps.col("region") == "eu").select("name", user=ps.col("id")).key == ("user",)
    assert users.rename(id="user").drop("name").key == ("user",)
    assert users.with_columns(name=ps.upper("name")).key == ("id",)


def test_a_step_that_loses_the_key_is_refused() -> None:
    _, users, _ = a_shop()
    error = refused("TABLE_KEY", lambda: users.select("name"))
    assert "(id)" in error.fact
    refused("TABLE_KEY", lambda: ps.App("x").table("t", key=(), schema=USER))


def test_changes_of_a_table_are_deleted_from_what_is_made_of_it() -> None:
    app, users, _ = a_shop()
    users.filter(ps.col("region") != "gone").to("replica")
    users.group_by("region").count().to_table().to("regions")
    users.to_stream().to("updates")
    driver = app.test()
    driver.push("users", [{"id": n, "name": f"u{n}", "region": "eu"} for n in (1, 2)])
    driver.push("users", {"id": 1, "name": "u1", "region": "us"})
    driver.push("users", {"id": 2, "name": "u2", "region": "gone"})
    assert driver.table("replica") == [{"id": 1, "name": "u1", "region": "us"}]
    assert sorted(row["region"] for row in driver.table("regions")) == ["gone", "us"]
    driver.delete("users", {"id": 1})
    assert driver.table("replica") == []
    assert driver.table("regions") == [{"region": "gone", "count": 1}]
    assert len(driver.rows("updates")) == 4


def test_a_deletion_is_only_for_a_topic_that_is_read_as_a_table() -> None:
    app, _, orders = a_shop()
    orders.to("copy")
    with pytest.raises(UsageError, match="TABLE_MISSING"):
        app.test().delete("orders", {"order": "1"})


def test_the_latest_row_by_key_of_a_stream_is_a_table() -> None:
    _, _, orders = a_shop()
    table = orders.to_table("user", order="event time")
    assert table.relation == Latest(orders.relation, ("user",), "event time")
    counted = orders.group_by("user").refine(ps.retracting()).count()
    assert counted.to_table().relation is counted.relation
    running = orders.group_by("user").count()
    assert running.to_table().relation == Latest(running.relation, ("user",))


def test_what_bounds_a_join_follows_from_its_sides() -> None:
    _, users, orders = a_shop()
    on = {"user": "id"}

    def bound(rows: Stream | Table) -> Any:  # noqa: ANN401
        assert isinstance(rows.relation, Join)
        return rows.relation.bound

    assert bound(orders.join(users, on=on, how="left")) == AsOf()
    assert bound(orders.join(users, on=on, as_of="event time", wait=True)) == AsOf(
        "event time", wait=True
    )
    assert bound(users.join(users, on="id")) == Whole()
    minute = timedelta(minutes=1)
    assert bound(orders.join(orders, on="user", within="1 minute")) == Interval(minute, minute)
    spans = ("-2s", "5s")
    assert bound(orders.join(orders, on="user", within=spans)) == Interval(
        timedelta(seconds=-2), timedelta(seconds=5)
    )
    assert bound(orders.join(orders, on="user", window=ps.tumbling("1 minute"))) == SameWindow(
        Tumbling(minute)
    )


def test_a_right_column_whose_name_is_taken_gets_a_suffix() -> None:
    _, users, orders = a_shop()
    both = orders.join(orders, on="user", within="1s")
    assert both.schema.names == (
        "order",
        "user",
        "price",
        "at",
        "order_right",
        "price_right",
        "at_right",
    )
    assert orders.join(users, on={"user": "id"}).schema.names[-3:] == ("id", "name", "region")
    assert orders.join(orders, on="user", how="semi", within="1s").schema == orders.schema


@pytest.mark.parametrize(
    ("left", "how", "key"),
    [
        ("fk", "inner", ("order",)),
        ("fk", "left", ("order",)),
        ("pk", "full", ("id",)),
        ("pk", "anti", ("id",)),
    ],
)
def test_the_result_of_two_tables_has_a_key(left: str, how: Any, key: tuple[str, ...]) -> None:  # noqa: ANN401
    _, users, orders = a_shop()
    if left == "fk":
        joined = orders.to_table("order").join(users, on={"user": "id"}, how=how)
    else:
        joined = users.join(users.select("id", other="name"), on="id", how=how)
    assert table_key(joined.relation) == key


def test_joins_that_cannot_be_are_refused_with_the_reason() -> None:
    app, users, orders = a_shop()
    error = refused("JOIN_UNBOUNDED", lambda: orders.join(orders, on="user"))
    assert "how long" in error.fact
    assert "within=" in error.hint
    refused(
        "JOIN_BOUND", lambda: orders.join(orders, on="user", within="1s", window=ps.tumbling("1s"))
    )
    refused("JOIN_WINDOW", lambda: orders.join(orders, on="user", window=ps.global_window()))
    refused("JOIN_AS_OF", lambda: orders.join(users, on={"user": "id"}, as_of="now"))  # type: ignore[arg-type]
    refused("JOIN_AS_OF", lambda: orders.join(users, on={"user": "id"}, wait=True))
    refused("JOIN_HOW", lambda: orders.join(orders, on="user", within="1s", how="outer"))  # type: ignore[arg-type]
    refused("JOIN_KEY", lambda: orders.join(orders, on=(), within="1s"))
    refused("JOIN_LOOKUP", lambda: orders.join(users, on={"order": "name"}))
    refused("JOIN_SIDES", lambda: users.join(orders, on={"id": "user"}))  # type: ignore[arg-type]
    refused("JOIN_INTERVAL", lambda: orders.join(orders, on="user", within=("-5s", "2s")))
    refused("COLUMN_MISSING", lambda: orders.join(users, on="userid"))
    other = ps.App("other").stream("orders", schema=ORDER)
    refused("PROGRAM_MIXED", lambda: orders.join(other, on="user", within="1s"))
    types = refused("JOIN_TYPES", lambda: orders.join(users, on={"order": "id"}))
    assert "string" in types.fact
    assert "int64" in types.fact
    assert app.name == "shop"


def test_a_stream_that_is_no_table_cannot_be_looked_up() -> None:
    _, _, orders = a_shop()
    with pytest.raises(ModelError, match="TABLE_KEY"):
        orders.join(Table(orders.program, orders.relation), on="user")
