from __future__ import annotations

import re
from typing import Any

import pytest

import penstock as ps
from penstock import streams as ks
from penstock.errors import ModelError, PenstockError, RunError
from penstock.front.streams.folding import Folding, Part
from penstock.front.streams.node import Codec, Fold
from penstock.testing.driver import TestDriver
from penstock.testing.streams_driver import StreamsDriver

LONG = ks.Serdes.long()
WORDS = re.compile(r"\W+")


def wordcount() -> StreamsDriver:
    builder = ks.KStreamBuilder()
    counts = (
        builder.stream("lines")
        .flat_map_values(lambda line: WORDS.split(line.lower()))
        .map(lambda _, word: (word, word))
        .count_by_key("Counts")
        .to_stream()
    )
    counts.to(ks.Serdes.string(), LONG, "counts")
    return StreamsDriver(builder)


def test_every_word_gives_its_new_count() -> None:
    driver = wordcount()
    driver.pipe("lines", None, "all streams lead to kafka")
    driver.pipe("lines", None, "Hello, Kafka streams")
    assert driver.read("counts", value_serde=LONG) == [
        ("all", 1),
        ("streams", 1),
        ("lead", 1),
        ("to", 1),
        ("kafka", 1),
        ("hello", 1),
        ("kafka", 2),
        ("streams", 2),
    ]


def test_a_word_twice_in_a_line_is_counted_twice() -> None:
    driver = wordcount()
    driver.pipe("lines", None, "a b a")
    assert driver.read("counts", value_serde=LONG) == [("a", 1), ("b", 1), ("a", 2)]


def test_a_store_is_asked_by_its_name() -> None:
    driver = wordcount()
    driver.pipe("lines", None, "a b a")
    store = driver.store("Counts")
    assert store.get("a") == 2
    assert store.get("c") is None
    assert store.get(None) is None
    assert store.all() == {"a": 2, "b": 1}
    assert len(store) == 2
    with pytest.raises(PenstockError, match="STREAMS_STORE") as caught:
        driver.store("Count")
    assert "Counts" in caught.value.hint


def test_a_record_goes_through_every_kind_of_step() -> None:
    builder = ks.KStreamBuilder()
    seen: list[tuple[Any, Any]] = []
    (
        builder.stream("in")
        .filter(lambda _, value: value != "no")
        .filter_not(lambda key, _: key == "hidden")
        .map_values(str.upper)
        .flat_map(lambda key, value: [(key, value), ks.KeyValue(key + "!", value)])
        .select_key(lambda key, value: f"{key}-{value}")
        .peek(lambda key, value: seen.append((key, value)))
        .to("out")
    )
    driver = StreamsDriver(builder)
    for key, value in (("a", "x"), ("a", "no"), ("hidden", "x"), ("b", "y")):
        driver.pipe("in", key, value)
    expected = [("a-X", "X"), ("a!-X", "X"), ("b-Y", "Y"), ("b!-Y", "Y")]
    assert driver.read("out") == expected
    assert seen == expected


def test_a_record_goes_to_the_first_branch_that_wants_it() -> None:
    builder = ks.KStreamBuilder()
    short, long, rest = builder.stream("in").branch(
        lambda _, value: len(value) < 3, lambda _, value: len(value) > 1, lambda *_: True
    )
    short.to("short")
    long.merge(rest).to("other")
    driver = StreamsDriver(builder)
    for value in ("a", "bb", "ccc"):
        driver.pipe("in", "k", value)
    assert driver.read("short") == [("k", "a"), ("k", "bb")]
    assert driver.read("other") == [("k", "ccc")]


def test_each_record_is_given_to_another_system() -> None:
    builder = ks.KStreamBuilder()
    seen: list[tuple[Any, Any]] = []
    builder.stream("in").foreach(lambda key, value: seen.append((key, value)))
    driver = StreamsDriver(builder)
    driver.pipe("in", "a", "x")
    driver.pipe("in", None, None)
    assert seen == [("a", "x"), (None, None)]


def test_what_goes_through_a_topic_is_read_from_there() -> None:
    builder = ks.KStreamBuilder()
    builder.stream("in").map_values(len).through("middle", value_serde=LONG).map_values(
        lambda n: n + 1
    ).to("out")
    driver = StreamsDriver(builder)
    driver.pipe("in", "a", "four")
    assert driver.read("middle", value_serde=LONG) == [("a", 4)]
    assert driver.read("out", value_serde=LONG) == [("a", 5)]


def test_a_tombstone_is_a_record_without_a_value() -> None:
    builder = ks.KStreamBuilder()
    builder.stream("in").map_values(lambda _: None).to("out")
    driver = StreamsDriver(builder)
    driver.pipe("in", "a", "x")
    assert driver.read("out") == [("a", None)]


def test_records_without_a_key_or_a_value_are_not_counted() -> None:
    builder = ks.KStreamBuilder()
    builder.stream("in").count_by_key().to_stream().to("out")
    driver = StreamsDriver(builder)
    for key, value in ((None, "x"), ("a", None), ("a", "x")):
        driver.pipe("in", key, value)
    assert driver.read("out", value_serde=LONG) == [("a", 1)]


def test_values_of_a_key_are_reduced_two_at_a_time() -> None:
    builder = ks.KStreamBuilder(value_serde=LONG)
    builder.stream("in").reduce_by_key(max, "Most").to_stream().to("out")
    driver = StreamsDriver(builder)
    for value in (3, 1, 5):
        driver.pipe("in", "a", value, value_serde=LONG)
    assert driver.read("out", value_serde=LONG) == [("a", 3), ("a", 3), ("a", 5)]
    assert driver.store("Most").get("a") == 5


def test_values_of_a_key_are_added_to_a_start_value_in_their_order() -> None:
    builder = ks.KStreamBuilder()
    table = builder.stream("in").aggregate_by_key(
        list, lambda key, value, held: [*held, key + value], value_serde=ks.Serdes.json()
    )
    table.to_stream().map_values("".join).to("out", value_serde=ks.Serdes.string())
    driver = StreamsDriver(builder)
    for value in "xyz":
        driver.pipe("in", "a", value)
    assert driver.read("out") == [("a", "ax"), ("a", "axay"), ("a", "axayaz")]


def test_a_window_counts_by_the_time_of_the_records_and_waits_for_late_ones() -> None:
    builder = ks.KStreamBuilder()
    grouped = builder.stream("in").group_by(lambda _, value: value)
    table = grouped.windowed_by(ps.tumbling("10s"), grace="5s").count("Windows")
    table.to_stream().map_values(str).to("out", value_serde=ks.Serdes.string())
    driver = StreamsDriver(builder)
    for at in (1_000, 2_000, 11_000, 9_000, 16_000, 8_000):
        driver.pipe("in", None, "a", at=at)
    keys = ks.Serdes.windowed(ks.Serdes.string())
    first, second = ks.Windowed("a", 0, 10_000), ks.Windowed("a", 10_000, 20_000)
    assert driver.read("out", key_serde=keys) == [
        (first, "1"),
        (first, "2"),
        (second, "1"),
        (first, "3"),
        (second, "2"),
    ]
    assert [row["time"] for row in driver.late()] == [8_000]
    assert driver.store("Windows").fetch("a") == {first: 3, second: 2}
    assert driver.store("Windows").get(second) == 2


def test_sessions_are_merged_and_the_old_ones_go() -> None:
    builder = ks.KStreamBuilder()
    grouped = builder.stream("in").group_by_key().windowed_by(ps.session("5s"), grace="1m")
    grouped.aggregate(
        str,
        lambda _, value, held: held + value,
        "Sessions",
        merger=lambda one, other: one + other,
    )
    driver = StreamsDriver(builder)
    for at, value in ((0, "a"), (8_000, "b"), (4_000, "c")):
        driver.pipe("in", "k", value, at=at)
    (session,) = driver.store("Sessions").all()
    assert (session.key, session.start, session.end) == ("k", 0, 13_000)
    with pytest.raises(ModelError, match="STREAMS_MERGER"):
        grouped.aggregate(str, lambda _, value, held: held + value)


def test_hopping_windows_add_values_in_their_order() -> None:
    builder = ks.KStreamBuilder()
    grouped = builder.stream("in").group_by_key().windowed_by(ps.hopping("10s", "5s"), grace="1m")
    grouped.aggregate(str, lambda _, value, held: held + value, "Hops")
    driver = StreamsDriver(builder)
    for at in (0, 6_000, 7_000, 1_000):
        driver.pipe("in", "k", str(at), at=at)
    found = {at.start: value for at, value in driver.store("Hops").all().items()}
    assert found == {-5_000: "01000", 0: "0600070001000", 5_000: "60007000"}


def test_records_that_come_together_are_added_one_by_one() -> None:
    builder = ks.KStreamBuilder()
    texts = builder.stream("in").aggregate_by_key(str, lambda _, value, held: held + value)
    texts.to_stream().to("out")
    (part,) = builder.topology("test").parts
    driver = TestDriver(part.plan)
    for values in ("vw", "xyz"):
        driver.push("in", [{"_key": b"k", "value": value.encode()} for value in values])
    assert [row["value"] for row in driver.rows("out")] == [b"v", b"vw", b"vwx", b"vwxy", b"vwxyz"]


def test_results_that_cannot_be_merged_are_refused() -> None:
    codec = Codec(ks.Serdes.string(), ks.Serdes.string())
    folding = Folding(Fold(str, lambda _, value, held: held + value), codec, codec)
    one = folding.merge(folding.add(folding.init(), b"k", b"a"), folding.add(Part(), b"k", b"b"))
    with pytest.raises(RunError, match="STREAMS_MERGER"):
        folding.merge(one, one)


def test_a_function_that_gives_no_pair_makes_a_dead_letter() -> None:
    builder = ks.KStreamBuilder()
    builder.stream("in").map(lambda key, _: key).to("out")
    driver = StreamsDriver(builder)
    driver.pipe("in", "abc", "x")
    assert driver.read("out") == []
    (letter,) = driver.dead_letters()
    assert "STREAMS_PAIR" in letter["error"]


def test_a_value_that_does_not_fit_its_serde_makes_a_dead_letter() -> None:
    builder = ks.KStreamBuilder()
    builder.stream("in").map_values(len).to("out")
    driver = StreamsDriver(builder)
    driver.pipe("in", "a", "x")
    (letter,) = driver.dead_letters()
    assert "SERDE_VALUE" in letter["error"]


def test_bytes_that_do_not_fit_a_serde_make_a_dead_letter() -> None:
    builder = ks.KStreamBuilder(value_serde=LONG)
    builder.stream("in").to("out", value_serde=ks.Serdes.string())
    driver = StreamsDriver(builder)
    driver.pipe("in", "a", "x")
    (letter,) = driver.dead_letters()
    assert "SERDE_BYTES" in letter["error"]


def test_a_store_has_a_name_of_its_own() -> None:
    builder = ks.KStreamBuilder()
    builder.stream("in").count_by_key("Counts")
    with pytest.raises(ModelError, match="STREAMS_NAME"):
        builder.stream("other").count_by_key("Counts")


def test_what_contradicts_itself_is_refused_where_it_is_written() -> None:
    builder = ks.KStreamBuilder()
    stream = builder.stream("in")
    with pytest.raises(ModelError, match="PROGRAM_MIXED"):
        stream.merge(ks.KStreamBuilder().stream("in"))
    with pytest.raises(ModelError, match="REFINE_WINDOW"):
        stream.count_by_key(grace="1s")
    with pytest.raises(ModelError, match="STEP_ARGUMENT"):
        stream.count_by_key(window="10s")  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="STEP_ARGUMENT"):
        stream.to(LONG, "out")  # type: ignore[call-overload]
    with pytest.raises(ModelError, match="JOIN_UNBOUNDED"):
        stream.join(builder.stream("other"), lambda one, other: one + other)
    with pytest.raises(ModelError, match="PROGRAM_EMPTY"):
        builder.topology("nothing")
    with pytest.raises(PenstockError, match="TOPIC_MISSING"):
        wordcount().pipe("line", None, "x")
