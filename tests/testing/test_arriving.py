from __future__ import annotations

import pytest

import penstock as ps
from penstock.errors import SchemaError
from penstock.log.record import Record


def app(**words: object) -> ps.App:
    program = ps.App("p")
    program.stream("in", schema={"n": int}, **words).to("out")  # type: ignore[arg-type]
    return program


def test_bytes_are_read_by_the_format_of_the_stream_and_numbered() -> None:
    driver = app(format="json").test()
    driver.push("in", b'{"n": 1}')
    driver.push("in", [b'{"n": 2}', None, b"{"])
    driver.push("in", [b"}"], partition=1)
    assert driver.rows("out") == [{"n": 1}, {"n": 2}]
    found = [(row["partition"], row["offset"], row["raw"]) for row in driver.dead_letters("out")]
    assert found == [(0, 3, b"{"), (1, 0, b"}")]


def test_records_have_keys_headers_and_times_of_their_own() -> None:
    driver = app(format="json").test()
    driver.push("in", [Record("in", 0, 0, 77, b"k", b"{", (("h", b"v"),))])
    (letter,) = driver.dead_letters("out")
    assert (letter["key"], letter["timestamp"]) == (b"k", 77)
    assert letter["headers"] == [{"key": "h", "value": b"v"}]


def test_rows_can_be_pushed_past_the_format() -> None:
    driver = app(format="json").test()
    driver.push("in", [{"n": 1}])
    driver.push("in", ({"n": number} for number in (2, 3)))
    assert driver.rows("out") == [{"n": 1}, {"n": 2}, {"n": 3}]


def test_a_stream_of_bytes_takes_them_as_they_are() -> None:
    program = ps.App("p")
    program.stream("in").to("out")
    driver = program.test()
    driver.push("in", [b"\xff", Record("in", 0, 0, 5, b"k", b"v")])
    assert driver.rows("out") == [{"_key": None, "value": b"\xff"}, {"_key": b"k", "value": b"v"}]


def test_a_row_that_fails_in_a_step_knows_the_record_it_was() -> None:
    program = ps.App("p")
    source = program.stream("in", schema={"n": int})
    source.filter(ps.col("n") >= 0).map(lambda row: {"n": 1 // row["n"]}, schema={"n": int}).to("o")
    driver = program.test()
    driver.push("in", [{"n": -1}, {"n": 1}, {"n": 0}], partition=3)
    (letter,) = driver.dead_letters("o")
    assert (letter["topic"], letter["partition"], letter["offset"]) == ("in", 3, 2)
    assert driver.rows("o") == [{"n": 1}]


def test_a_row_without_a_time_knows_the_record_it_was() -> None:
    program = ps.App("p")
    program.stream("in", schema={"n": int, "at": int}, event_time="at").to("out")
    driver = program.test()
    driver.push("in", [{"n": 1, "at": 5}, {"n": 2}])
    (letter,) = driver.dead_letters("out")
    assert (letter["topic"], letter["partition"], letter["offset"]) == ("in", 0, 1)


def test_bytes_for_a_topic_with_columns_are_refused() -> None:
    with pytest.raises(SchemaError, match="COLUMN_UNKNOWN"):
        app().test().push("in", [b"{}"])


def test_where_a_format_is_read_and_written_is_explained() -> None:
    program = ps.App("p")
    program.stream("in", schema={"n": int}, format="json").to("out", format="json")
    text = program.explain("physical")
    assert "read in as json (n)" in text
    assert "write out as json" in text
