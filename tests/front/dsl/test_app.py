from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import penstock as ps
from penstock.errors import ModelError, SchemaError
from penstock.front.dsl.app import App
from penstock.model.plan import Sink
from penstock.model.source import Stream
from penstock.model.trigger import AfterRows, WhenClosed
from penstock.schema.annotation import schema_of
from tests.front.dsl.shop import PageView, page_views

HERE = Path(__file__).name


def views_by_region() -> App:
    """The example of the design, without the table."""
    app = App("shop")
    views = app.stream("pageviews", schema=PageView, event_time="viewtime", lateness="10s")
    (
        views.group_by("regionid")
        .window(ps.tumbling("1 minute"))
        .trigger(ps.when_closed(early=ps.every("10s"), late=ps.each_row()))
        .refine(ps.retracting(keep_late="1 hour"))
        .agg(views=ps.count(), people=ps.count_distinct("userid"))
        .to("views_by_region")
    )
    return app


def test_the_example_of_the_design_works_as_written() -> None:
    (sink,) = views_by_region().plan().sinks
    assert sink.topic == "views_by_region"
    assert sink.keys == ("regionid",)
    assert str(sink.relation.schema) == (
        "regionid string, window_start timestamp, window_end timestamp, views int64, people int64"
    )
    assert sink.relation.retracts
    trigger = sink.relation.trigger  # type: ignore[attr-defined]
    assert isinstance(trigger, WhenClosed)
    assert trigger.late == AfterRows(1)


def test_a_stream_is_read_as_said() -> None:
    app = App("shop")
    stream = app.stream(
        "views", schema=PageView, event_time="viewtime", lateness="10s", idle=None, max_ahead="1h"
    )
    mark = ps.bounded("10s", idle=None, max_ahead="1h")
    assert stream.relation == Stream("views", schema_of(PageView), "viewtime", mark)
    sorted_one = app.stream("views", schema={"n": int}, watermark=ps.perfect(), changelog=True)
    expected = Stream("views", schema_of({"n": int}), None, ps.perfect(), changelog=True)
    assert sorted_one.relation == expected


@pytest.mark.parametrize(
    ("key", "expected"),
    [(None, ("userid",)), ("price", ("price",)), (("price", "ok"), ("price", "ok"))],
)
def test_the_key_of_a_record_is_what_was_said_or_what_rows_were_keyed_by(
    key: str | tuple[str, ...] | None, expected: tuple[str, ...]
) -> None:
    app = App("shop")
    page_views(app).key_by("userid").filter(ps.col("ok")).to("out", key=key)
    assert app.plan().sinks[0].keys == expected


def test_a_key_goes_through_steps_that_keep_it() -> None:
    app = App("shop")
    keyed = page_views(app).group_by("regionid").agg(n=ps.count())
    keyed.with_columns(m=1).to("kept")
    keyed.rename(regionid="region").to("renamed")
    keyed.map(dict, schema={"regionid": str}).to("mapped")
    page_views(app).to("none")
    page_views(app).dedup("userid").expect("good", ps.col("ok")).to("dedup")
    page_views(app).top_n(1, by="price", group="regionid").filter(bool).to("best")
    keys = {sink.topic: sink.keys for sink in app.plan().sinks}
    assert keys == {
        "kept": ("regionid",),
        "renamed": (),
        "mapped": (),
        "none": (),
        "dedup": ("userid",),
        "best": ("regionid",),
    }


def test_a_stream_goes_on_after_it_was_written() -> None:
    app = App("shop")
    views = page_views(app)
    assert views.to("raw", late=None, dead="errors") is views
    views.filter(ps.col("ok")).to("good")
    assert app.plan().sinks == (
        Sink(views.relation, "raw", late=None, dead="errors"),
        Sink(views.filter(ps.col("ok")).relation, "good"),
    )


def test_a_topic_written_twice_is_refused_and_nothing_changes() -> None:
    app = App("shop")
    page_views(app).to("out")
    with pytest.raises(ModelError, match="TOPIC_TWICE") as caught:
        page_views(app).to("out")
    assert caught.value.fact.count(HERE) == 2
    assert len(app.plan().sinks) == 1


def test_what_makes_no_sense_about_a_source_is_refused_at_its_line() -> None:
    app = App("shop")
    for code, kind, arguments in (
        ("COLUMN_MISSING", SchemaError, {"event_time": "viewtme"}),
        ("EVENT_TIME_TYPE", ModelError, {"event_time": "userid"}),
        ("WATERMARK_TWICE", ModelError, {"lateness": "1s", "watermark": ps.perfect()}),
        ("DURATION_FORMAT", ModelError, {"lateness": "soon"}),
        ("DURATION_FORMAT", ModelError, {"idle": "1"}),
        ("COLUMN_MISSING", SchemaError, {"watermark": ps.punctuated("mark")}),
    ):
        with pytest.raises(kind, match=code) as caught:
            app.stream("views", schema=PageView, **arguments)
        assert f"({HERE}:" in caught.value.fact


def test_a_program_has_a_name_and_writes_something() -> None:
    assert App("shop").name == "shop"
    with pytest.raises(ModelError, match="PROGRAM_NAME"):
        App(" ")
    with pytest.raises(ModelError, match="PROGRAM_EMPTY"):
        App("shop").plan()


def test_a_program_describes_itself() -> None:
    text = views_by_region().describe()
    assert "s1 stream pageviews" in text
    assert "s2 aggregate by regionid  <- s1" in text
    assert "when  when closed, early at a multiple of 10s, late after a row" in text
    assert "o1 topic views_by_region  <- s2" in text


def test_a_notebook_shows_the_drawing_or_says_that_there_is_none() -> None:
    app = views_by_region()
    assert app._repr_html_() == app.svg()
    assert ElementTree.fromstring(app.svg()).tag.endswith("svg")
    assert App("<b>")._repr_html_() == "<p>&lt;b&gt; writes nothing yet.</p>"


def test_a_program_is_built_without_anything_heavy() -> None:
    code = (
        "import sys\n"
        "import penstock as ps\n"
        "app = ps.App('shop')\n"
        "views = app.stream('views', schema={'n': int, 'at': 'timestamp'}, event_time='at')\n"
        "views.window(ps.tumbling('1m')).agg(n=ps.sum('n')).to('out')\n"
        "app.describe(), app.svg()\n"
        "heavy = {'numpy', 'pandas', 'polars', 'pyarrow', 'pyspark'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
