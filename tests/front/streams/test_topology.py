from __future__ import annotations

from penstock import streams as ks
from penstock.front.streams.topology import Topology
from penstock.model.aggregate import Aggregate
from penstock.model.source import Stream


def topics(topology: Topology) -> list[tuple[set[str], set[str]]]:
    """What each part reads and writes."""
    return [(set(part.topics), {sink.topic for sink in part.plan.sinks}) for part in topology.parts]


def test_a_program_is_cut_where_the_key_changed() -> None:
    builder = ks.KStreamBuilder()
    counted = builder.stream("in").select_key(lambda _, value: value).count_by_key("Counts")
    counted.to_stream().to("out")
    assert topics(builder.topology("app")) == [
        ({"in"}, {"app-Counts-repartition"}),
        ({"app-Counts-repartition"}, {"out", "app-Counts-changelog"}),
    ]


def test_a_program_is_not_cut_where_the_key_stayed() -> None:
    builder = ks.KStreamBuilder()
    values = builder.stream("in").map_values(str.upper).filter(lambda *_: True)
    values.count_by_key("Counts").to_stream().to("out")
    assert topics(builder.topology("app")) == [({"in"}, {"out", "app-Counts-changelog"})]


def test_on_spark_equal_keys_meet_without_a_topic() -> None:
    builder = ks.KStreamBuilder()
    builder.stream("in").select_key(lambda _, value: value).count_by_key().to_stream().to("out")
    (part,) = builder.topology("app", cut=False).parts
    assert part.topics == {"in"}


def test_what_reads_a_topic_in_common_is_run_together() -> None:
    builder = ks.KStreamBuilder()
    builder.stream("a").to("from-a")
    builder.stream("b").to("from-b")
    builder.stream("a").merge(builder.stream("b")).to("both")
    builder.stream("c").to("from-c")
    assert topics(builder.topology("app")) == [
        ({"a", "b"}, {"from-a", "from-b", "both"}),
        ({"c"}, {"from-c"}),
    ]


def test_a_part_comes_after_those_that_write_what_it_reads() -> None:
    builder = ks.KStreamBuilder()
    builder.stream("third").to("end")
    builder.stream("second").to("third")
    builder.stream("first").to("second")
    builder.stream("third").to("other-end")
    assert [reads for reads, _ in topics(builder.topology("app"))] == [
        {"first"},
        {"second"},
        {"third"},
    ]


def test_a_circle_of_topics_is_run_in_the_order_it_was_written() -> None:
    builder = ks.KStreamBuilder()
    builder.stream("a").to("b")
    builder.stream("b").to("a")
    assert [reads for reads, _ in topics(builder.topology("app"))] == [{"a"}, {"b"}]


def test_a_table_that_two_streams_use_is_computed_once() -> None:
    builder = ks.KStreamBuilder()
    counts = builder.stream("in").count_by_key("Counts")
    counts.to_stream().to("one")
    counts.to("other")
    (part,) = builder.topology("app").parts
    assert len({id(step) for step in part.plan.walk() if isinstance(step, Aggregate)}) == 1
    assert len({id(step) for step in part.plan.walk() if isinstance(step, Stream)}) == 1


def test_records_that_go_on_as_they_are_are_not_read() -> None:
    builder = ks.KStreamBuilder()
    builder.stream("in").to("out")
    (part,) = builder.topology("app").parts
    assert isinstance(part.plan.sinks[0].relation, Stream)


def test_stores_are_kept_in_compacted_topics_and_a_table_in_its_own() -> None:
    builder = ks.KStreamBuilder()
    builder.table("users").to("copy")
    builder.table("users")
    builder.stream("in").count_by_key("Counts")
    topology = builder.topology("app")
    assert {name: kept.topic for name, kept in topology.stores.items()} == {
        "users": "users",
        "Counts": "app-Counts-changelog",
    }
    assert topology.compacted == {"app-Counts-changelog", "copy"}


def test_a_store_is_written_before_the_results_that_follow_from_it() -> None:
    builder = ks.KStreamBuilder()
    builder.stream("in").count_by_key("Counts").to_stream().to("out")
    (part,) = builder.topology("app").parts
    assert [sink.topic for sink in part.plan.sinks] == ["app-Counts-changelog", "out"]
