"""Storm: spouts, bolts, topologies, and the tracking of each tuple (E03 to E07, E09, H03)."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

from typing_extensions import override

from penstock.clock import ManualClock
from penstock.topology import (
    Bolt,
    BoltCollector,
    Config,
    OutputDeclarer,
    Spout,
    SpoutCollector,
    TaskContext,
    TopologyBuilder,
    TopologyRun,
    Tuple,
    quiet,
    run_topology,
)
from tests.inline.topology.exclaim import (
    WORDS,
    CallBolt,
    EndBolt,
    ExclamationBolt,
    ListSpout,
    WordSpout,
)

Heard = list[tuple[str, object]]


def test_e03_the_word_spout_gives_its_five_words_in_one_field() -> None:
    seen: Heard = []
    builder = TopologyBuilder()
    builder.set_spout("words", WordSpout(), 10)
    builder.set_bolt("end", EndBolt(seen)).shuffle_grouping("words")
    topology = builder.create_topology()
    run_topology(topology, until=lambda _: len(seen) >= 500)
    assert {word for _, word in seen} == set(WORDS)
    assert topology.component("words").outputs[0].fields == ("word",)


def test_e04_a_bolt_emits_anchored_and_acks() -> None:
    seen: Heard = []
    heard: Heard = []
    builder = TopologyBuilder()
    builder.set_spout("words", ListSpout([("nathan",)], heard))
    builder.set_bolt("exclaim", ExclamationBolt(), 3).shuffle_grouping("words")
    builder.set_bolt("end", EndBolt(seen)).shuffle_grouping("exclaim")
    run_topology(builder.create_topology(), until=quiet)
    assert seen == [("exclaim", "nathan!!!")]
    assert heard == [("emitted", 0), ("acked", 0)]


def test_e05_the_exclamation_topology_adds_six_marks() -> None:
    for threads in (False, True):
        seen: Heard = []
        builder = TopologyBuilder()
        builder.set_spout("words", ListSpout([(word,) for word in WORDS * 20], []), 10)
        builder.set_bolt("exclaim1", ExclamationBolt(), 3).shuffle_grouping("words")
        builder.set_bolt("exclaim2", ExclamationBolt(), 2).shuffle_grouping("exclaim1")
        builder.set_bolt("end", EndBolt(seen)).global_grouping("exclaim2")
        run = run_topology(
            builder.create_topology(), Config(workers=2, threads=threads), until=quiet
        )
        assert sorted(seen) == sorted(("exclaim2", f"{word}!!!!!!") for word in WORDS * 20)
        assert len(run.task_counts("words")) == 10
        assert len(run.task_counts("exclaim1")) == 3


class Feed(Spout):
    """A source of one's own: whatever an iterator of the outside gives."""

    @override
    def open(self, config: Config, context: TaskContext, collector: SpoutCollector) -> None:
        feed = config.options["feed"]
        assert isinstance(feed, Iterator)
        self.feed, self.collector = feed, collector

    @override
    def next_tuple(self) -> None:
        for post in self.feed:
            self.collector.emit(post, message_id=post)
            return

    @override
    def declare_output_fields(self, declarer: OutputDeclarer) -> None:
        declarer.declare("author", "text")


def test_e06_a_source_of_ones_own_plugs_in() -> None:
    seen: Heard = []
    builder = TopologyBuilder()
    builder.set_spout("posts", Feed())
    builder.set_bolt("end", EndBolt(seen)).fields_grouping("posts", "author")
    posts = iter([("ann", "hello"), ("bob", "hi")])
    run_topology(builder.create_topology(), Config(options={"feed": posts}), until=quiet)
    assert seen == [("posts", "ann"), ("posts", "bob")]


def test_e07_a_bolt_takes_two_streams_and_emits_two() -> None:
    def sort(received: Tuple, collector: BoltCollector, _: TaskContext) -> None:
        stream = "loud" if received.source == "shouts" else "soft"
        collector.emit((received[0],), anchors=received, stream=stream)
        collector.ack(received)

    loud: Heard = []
    soft: Heard = []
    builder = TopologyBuilder()
    builder.set_spout("shouts", ListSpout([("HEY",)], []))
    builder.set_spout("whispers", ListSpout([("psst",)], []))
    bolt = builder.set_bolt("sort", CallBolt(sort, ("loud", "word"), ("soft", "word")))
    bolt.shuffle_grouping("shouts").shuffle_grouping("whispers")
    builder.set_bolt("loud", EndBolt(loud)).shuffle_grouping("sort", stream="loud")
    builder.set_bolt("soft", EndBolt(soft)).shuffle_grouping("sort", stream="soft")
    run_topology(builder.create_topology(), until=quiet)
    assert (loud, soft) == ([("sort", "HEY")], [("sort", "psst")])


def test_e09_two_executors_run_four_tasks() -> None:
    threads: dict[int, int] = {}

    def note(received: Tuple, collector: BoltCollector, context: TaskContext) -> None:
        threads[context.task] = threading.get_ident()
        collector.ack(received)

    builder = TopologyBuilder()
    builder.set_spout("blue", ListSpout([(n,) for n in range(100)], []), 2)
    builder.set_bolt("green", CallBolt(note), 2).set_num_tasks(4).shuffle_grouping("blue")
    run_topology(builder.create_topology(), Config(workers=2, threads=True), until=quiet)
    assert len(threads) == 4
    assert len(set(threads.values())) == 2


class Mute(Bolt):
    """Takes tuples and never acks the first of each word; it emits a child before that."""

    def __init__(self, deaf: int) -> None:
        self.deaf = deaf

    @override
    def prepare(self, config: Config, context: TaskContext, collector: BoltCollector) -> None:
        self.collector = collector

    @override
    def execute(self, received: Tuple) -> None:
        if self.deaf:
            self.deaf -= 1
            return
        self.collector.emit((received[0],), anchors=received)
        self.collector.ack(received)

    @override
    def declare_output_fields(self, declarer: OutputDeclarer) -> None:
        declarer.declare("word")


def test_h03_a_bolt_that_does_not_ack_brings_fail_and_replay_after_the_timeout() -> None:
    heard: Heard = []
    seen: Heard = []
    clock = ManualClock(0)
    builder = TopologyBuilder()
    builder.set_spout("words", ListSpout([("nathan",)], heard))
    builder.set_bolt("mute", Mute(deaf=1)).shuffle_grouping("words")
    builder.set_bolt("end", EndBolt(seen)).shuffle_grouping("mute")
    config = Config(message_timeout="30s")
    with TopologyRun(builder.create_topology(), config, clock=clock) as run:
        run.settle()
        clock.advance(29_999)
        run.settle()
        assert heard == [("emitted", 0)]
        clock.advance(15_001)
        run.settle()
        assert heard == [("emitted", 0), ("failed", 0), ("emitted", 0), ("acked", 0)]
        assert seen == [("mute", "nathan")]
        assert run.pending == 0


def test_h03_the_timeout_comes_by_the_clock_of_the_machine_too() -> None:
    heard: Heard = []
    builder = TopologyBuilder()
    builder.set_spout("words", ListSpout([("nathan",)], heard))
    builder.set_bolt("mute", Mute(deaf=1)).shuffle_grouping("words")
    began = time.monotonic()
    config = Config(message_timeout="200ms", threads=True)
    run_topology(builder.create_topology(), config, until=quiet)
    assert [said for said, _ in heard] == ["emitted", "failed", "emitted", "acked"]
    assert time.monotonic() - began >= 0.15


def test_h03_a_tree_is_acked_only_when_all_its_descendants_are() -> None:
    held: list[tuple[Tuple, BoltCollector]] = []
    heard: Heard = []

    def three(received: Tuple, collector: BoltCollector, _: TaskContext) -> None:
        for number in range(3):
            collector.emit((number,), anchors=received)
        collector.ack(received)

    def hold(received: Tuple, collector: BoltCollector, _: TaskContext) -> None:
        held.append((received, collector))

    builder = TopologyBuilder()
    builder.set_spout("words", ListSpout([("nathan",)], heard))
    builder.set_bolt("three", CallBolt(three, ("default", "number"))).shuffle_grouping("words")
    builder.set_bolt("hold", CallBolt(hold), 2).all_grouping("three")
    with TopologyRun(builder.create_topology(), clock=ManualClock()) as run:
        run.settle()
        assert len(held) == 6
        for received, collector in held:
            assert heard == [("emitted", 0)]
            collector.ack(received)
            run.settle()
        assert heard == [("emitted", 0), ("acked", 0)]
