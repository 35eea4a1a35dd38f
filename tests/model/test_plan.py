from __future__ import annotations

import pytest

from penstock.errors import ModelError, SchemaError
from penstock.model.plan import Plan, Sink
from tests.model.programs import a_stream


def test_late_rows_and_dead_letters_go_beside_the_results() -> None:
    sink = Sink(a_stream(), "out")
    assert (sink.late_topic, sink.dead_topic) == ("out.late", "out.dead")
    other = Sink(a_stream(), "out", late=None, dead="errors")
    assert (other.late_topic, other.dead_topic) == (None, "errors")


def test_the_key_of_a_record_is_one_of_its_columns() -> None:
    with pytest.raises(SchemaError, match="COLUMN_MISSING"):
        Sink(a_stream(), "out", ("usr",))


def test_a_program_writes_something() -> None:
    with pytest.raises(ModelError, match="PROGRAM_EMPTY"):
        Plan("shop", ())


def test_a_topic_is_written_once() -> None:
    sinks = (Sink(a_stream(), "out", site="a.py:1"), Sink(a_stream(), "out", site="a.py:2"))
    with pytest.raises(ModelError, match="TOPIC_TWICE") as caught:
        Plan("shop", sinks)
    expected = 'topic "out" is written twice: results (a.py:1), results (a.py:2)'
    assert caught.value.fact == expected


@pytest.mark.parametrize(
    "sinks",
    [
        (Sink(a_stream(), "out"), Sink(a_stream(), "out.late")),
        (Sink(a_stream(), "out.dead"), Sink(a_stream(), "out")),
        (Sink(a_stream(), "out", late="out"),),
        (Sink(a_stream(), "out", late="side", dead="side"),),
        (Sink(a_stream(), "a", late="side"), Sink(a_stream(), "b", dead="side")),
    ],
)
def test_a_topic_holds_rows_of_one_kind(sinks: tuple[Sink, ...]) -> None:
    with pytest.raises(ModelError, match="TOPIC_TWICE"):
        Plan("shop", sinks)


def test_sinks_may_share_a_topic_for_what_failed() -> None:
    sinks = (Sink(a_stream(), "a", dead="errors"), Sink(a_stream(), "b", dead="errors"))
    assert Plan("shop", sinks).sinks == sinks


def test_a_walk_gives_shared_steps_once() -> None:
    source = a_stream()
    plan = Plan("shop", (Sink(source, "a"), Sink(source, "b")))
    assert list(plan.walk()) == [source]
