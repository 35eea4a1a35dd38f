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
    assert caught.value.fact == 'topic "out" is written twice (a.py:1 and a.py:2)'


def test_a_walk_gives_shared_steps_once() -> None:
    source = a_stream()
    plan = Plan("shop", (Sink(source, "a"), Sink(source, "b")))
    assert list(plan.walk()) == [source]
