from __future__ import annotations

from pathlib import Path

import pytest

import penstock as ps
from penstock.errors import ModelError, SchemaError
from penstock.front.dsl.persist import postgres, sqlite
from penstock.front.dsl.stream import Stream
from penstock.model.graph import graph_of
from penstock.model.plan import Sink
from penstock.model.store import Store
from penstock.plan.deployment import STORE, deploy

COLUMNS = {"user": str, "n": int, "at": "timestamp"}
PLACE = "/data/results.sqlite"


def a_stream(app: ps.App) -> Stream:
    return app.stream("views", schema=COLUMNS, event_time="at")


def the_sink(app: ps.App) -> Sink:
    (sink,) = app.plan().sinks
    return sink


def test_rows_of_a_stream_are_added() -> None:
    app = ps.App("p")
    a_stream(app).persist(PLACE, "seen")
    sink = the_sink(app)
    assert (sink.topic, sink.keys, sink.upsert) == ("seen", (), False)
    assert sink.store == Store("sqlite", PLACE)


def test_results_and_tables_are_kept_by_their_key() -> None:
    app = ps.App("p")
    views = a_stream(app)
    views.group_by("user").agg(n=ps.count()).persist(PLACE, "running")
    views.group_by("user").window(ps.tumbling("1m")).agg(n=ps.count()).persist(PLACE, "windowed")
    views.group_by("user").refine(ps.retracting()).agg(n=ps.count()).persist(PLACE, "retracting")
    views.to_table("user").filter(ps.col("n") > 1).persist(PLACE, "latest")
    views.count().persist(PLACE, "all")
    keys = {sink.topic: sink.keys for sink in app.plan().sinks if sink.upsert}
    assert keys == {
        "running": ("user",),
        "windowed": ("user", "window_start", "window_end"),
        "retracting": ("user",),
        "latest": ("user",),
        "all": (),
    }


def test_a_key_that_is_given_is_the_one_rows_are_kept_by() -> None:
    app = ps.App("p")
    a_stream(app).persist(Path(PLACE), "last", key=["user", "n"], late=None, dead="errors")
    sink = the_sink(app)
    assert (sink.keys, sink.upsert) == (("user", "n"), True)
    assert (sink.late_topic, sink.dead_topic) == (None, "errors")
    with pytest.raises(SchemaError, match=r"COLUMN_(MISSING|UNKNOWN)"):
        a_stream(app).persist(PLACE, "other", key="usr")


def test_results_whose_key_is_left_out_are_added() -> None:
    app = ps.App("p")
    a_stream(app).group_by("user").agg(n=ps.count()).select("n").persist(PLACE, "numbers")
    assert not the_sink(app).upsert


def test_stores_are_named_by_their_kind() -> None:
    assert sqlite("/a/b") == Store("sqlite", "/a/b")
    assert postgres("dbname=shop") == Store("postgres", "dbname=shop")
    with pytest.raises(ModelError, match="STORE_ARGUMENT"):
        a_stream(ps.App("p")).persist(7, "seen")  # type: ignore[arg-type]


def test_a_table_may_be_called_as_the_topic_that_is_read() -> None:
    app = ps.App("p")
    a_stream(app).persist(PLACE, "views")
    assert app.physical().outputs[0].id == "out-views"
    with pytest.raises(ModelError, match="TOPIC_TWICE"):
        a_stream(app).to("views")


def test_a_store_is_seen_in_the_graph_the_explanation_and_the_deployment() -> None:
    app = ps.App("p")
    a_stream(app).persist("postgresql://me:secret@host/db", "seen")
    node = graph_of(app.plan()).nodes[-1]
    place = "seen in postgres postgresql://me:***@host/db"
    assert (node.kind, node.title) == ("store", place)
    assert f"to {place}" in app.explain("model")
    streams = deploy(app.physical()).streams
    assert [stream.target for stream in streams if stream.by == STORE] == [f"table {place}"]
    assert "secret" not in app.explain()
    assert "secret" not in app.svg()


def test_the_test_driver_keeps_what_a_store_would() -> None:
    app = ps.App("p")
    a_stream(app).group_by("user").agg(total=ps.sum("n")).persist(PLACE, "totals")
    driver = app.test()
    for n in (1, 2, 3):
        driver.push("views", [{"user": "ann", "n": n, "at": n}])
    assert driver.table("totals") == [{"user": "ann", "total": 6}]
    assert not Path(PLACE).exists()
