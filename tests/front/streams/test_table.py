from __future__ import annotations

import pytest

from penstock import streams as ks
from penstock.errors import ModelError
from penstock.testing.streams_driver import StreamsDriver

LONG = ks.Serdes.long()


def pipe(driver: StreamsDriver, topic: str, *records: tuple[str, str | None]) -> None:
    for key, value in records:
        driver.pipe(topic, key, value)


def test_a_table_holds_the_last_value_of_each_key_until_it_is_deleted() -> None:
    builder = ks.KStreamBuilder()
    builder.table("users").map_values(str.upper).to("out")
    driver = StreamsDriver(builder)
    pipe(driver, "users", ("a", "x"), ("b", "y"), ("a", "z"), ("b", None))
    assert driver.read("out") == [("a", "X"), ("b", "Y"), ("a", "Z"), ("b", None)]
    assert driver.store("users").all() == {"a": "z"}


def test_a_key_that_is_not_wanted_any_more_goes_from_the_table() -> None:
    builder = ks.KStreamBuilder()
    table = builder.table("in")
    table.filter(lambda _, value: value != "no").to("out")
    table.filter_not(lambda _, value: value == "no").to_stream().to("updates")
    driver = StreamsDriver(builder)
    pipe(driver, "in", ("a", "x"), ("a", "no"), ("a", "no"), ("a", "y"))
    assert driver.read("out") == [("a", "x"), ("a", None), ("a", "y")]
    assert driver.read("updates") == [("a", "x"), ("a", "y")]


def test_a_table_goes_through_a_topic() -> None:
    builder = ks.KStreamBuilder()
    builder.table("in").through("middle").to_stream().to("out")
    driver = StreamsDriver(builder)
    pipe(driver, "in", ("a", "x"), ("a", None), ("a", "y"))
    assert driver.read("middle") == [("a", "x"), ("a", None), ("a", "y")]
    assert driver.read("out") == [("a", "x"), ("a", "y")]


def test_counts_are_written_as_a_table() -> None:
    builder = ks.KStreamBuilder()
    builder.stream("in").count_by_key().filter(lambda _, count: count < 3).to(
        ks.Serdes.string(), LONG, "out"
    )
    driver = StreamsDriver(builder)
    pipe(driver, "in", *[("a", "x")] * 3)
    assert driver.read("out", value_serde=LONG) == [("a", 1), ("a", 2), ("a", None)]


def test_a_stream_looks_up_what_a_table_holds_when_a_record_comes() -> None:
    builder = ks.KStreamBuilder()
    users = builder.table("users")
    views = builder.stream("views")
    views.join(users, lambda view, user: f"{user}:{view}").to("inner")
    views.left_join(users, lambda view, user: f"{user}:{view}").to("left")
    driver = StreamsDriver(builder)
    pipe(driver, "views", ("a", "1"))
    pipe(driver, "users", ("a", "Ann"))
    pipe(driver, "views", ("a", "2"))
    pipe(driver, "users", ("a", "Anna"))
    pipe(driver, "views", ("a", "3"))
    pipe(driver, "users", ("a", None))
    pipe(driver, "views", ("a", "4"))
    assert driver.read("inner") == [("a", "Ann:2"), ("a", "Anna:3")]
    assert driver.read("left") == [
        ("a", "None:1"),
        ("a", "Ann:2"),
        ("a", "Anna:3"),
        ("a", "None:4"),
    ]


def test_a_stream_under_a_new_key_looks_up_counts() -> None:
    builder = ks.KStreamBuilder()
    counts = builder.stream("views").count_by_key()
    builder.stream("asked").select_key(lambda _, value: value).join(
        counts, lambda name, count: f"{name} has {count}"
    ).to("out")
    driver = StreamsDriver(builder)
    pipe(driver, "views", ("a", "x"), ("a", "x"))
    pipe(driver, "asked", ("?", "a"))
    assert driver.read("out") == [("a", "a has 2")]


def test_records_of_two_streams_meet_within_a_time() -> None:
    builder = ks.KStreamBuilder()
    left, right = builder.stream("left"), builder.stream("right")
    left.join(right, lambda one, other: one + other, within="5s").to("pairs")
    driver = StreamsDriver(builder)
    driver.pipe("left", "a", "l1", at=1_000)
    driver.pipe("right", "a", "r1", at=5_000)
    driver.pipe("right", "a", "r2", at=7_000)
    driver.pipe("right", "b", "r3", at=2_000)
    assert driver.read("pairs") == [("a", "l1r1")]


def test_a_record_without_a_partner_comes_alone_once_none_can_come() -> None:
    builder = ks.KStreamBuilder()
    left, right = builder.stream("left"), builder.stream("right")
    left.outer_join(right, lambda one, other: f"{one}-{other}", within=("1s", "2s")).to("out")
    driver = StreamsDriver(builder)
    driver.pipe("left", "a", "l", at=1_000)
    driver.pipe("right", "b", "r", at=1_000)
    for at in (20_000, 30_000):
        driver.pipe("left", "c", "l", at=at)
        driver.pipe("right", "c", "r", at=at)
    assert sorted(driver.read("out"))[:2] == [("a", "l-None"), ("b", "None-r")]


def test_tables_with_the_same_keys_are_joined_and_kept_up_to_date() -> None:
    builder = ks.KStreamBuilder()
    one, other = builder.table("one"), builder.table("other")
    one.join(other, lambda a, b: a + b).to("inner")
    one.left_join(other.map_values(str.upper), lambda a, b: f"{a}{b}").to("left")
    one.outer_join(other, lambda a, b: f"{a}{b}").to("outer")
    driver = StreamsDriver(builder)
    pipe(driver, "one", ("k", "1"))
    pipe(driver, "other", ("k", "a"), ("m", "b"))
    pipe(driver, "one", ("k", "2"), ("k", None))
    assert driver.read("inner") == [("k", "1a"), ("k", "2a"), ("k", None)]
    assert driver.read("left") == [("k", "1None"), ("k", "1A"), ("k", "2A"), ("k", None)]
    assert driver.read("outer")[-1] == ("k", "Nonea")


def test_a_stream_and_a_table_of_two_builders_do_not_meet() -> None:
    stream = ks.KStreamBuilder().stream("in")
    with pytest.raises(ModelError, match="PROGRAM_MIXED"):
        stream.join(ks.KStreamBuilder().table("users"), lambda one, _: one)
