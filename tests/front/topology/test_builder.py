from __future__ import annotations

from collections.abc import Callable

import pytest
from typing_extensions import override

from penstock.errors import ModelError
from penstock.front.topology.builder import TopologyBuilder
from penstock.model.topology import ByFields, Input, PartialKey, Shuffle
from penstock.model.topology_work import Bolt, OutputDeclarer, Spout, Tuple


class Sentences(Spout):
    @override
    def next_tuple(self) -> None:
        return

    @override
    def declare_output_fields(self, declarer: OutputDeclarer) -> None:
        declarer.declare("sentence")
        declarer.declare("task", stream="pointed", direct=True)


class Split(Bolt):
    @override
    def execute(self, received: Tuple) -> None:
        return

    @override
    def declare_output_fields(self, declarer: OutputDeclarer) -> None:
        declarer.declare("word")


def started() -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("sentences", Sentences(), 5)
    return builder


def test_a_topology_is_what_was_set() -> None:
    builder = started()
    builder.set_bolt("split", Split(), 8).shuffle_grouping("sentences")
    count = builder.set_bolt("count", Split(), 12).fields_grouping("split", "word")
    count.partial_key_grouping("split", "word").set_num_tasks(3)
    topology = builder.create_topology()
    assert [c.name for c in topology.components] == ["sentences", "split", "count"]
    assert [(c.executors, c.tasks) for c in topology.components] == [(5, 5), (8, 8), (3, 3)]
    assert topology.component("count").inputs == (
        Input("split", "default", ByFields(("word",))),
        Input("split", "default", PartialKey(("word",))),
    )
    assert topology.takers("sentences", "default") == [(topology.component("split"), Shuffle())]
    assert topology.task_ids()["split"] == tuple(range(6, 14))
    assert topology.in_a_circle() == frozenset()


Wrong = Callable[[TopologyBuilder], object]
WRONG: list[tuple[Wrong, str]] = [
    (lambda b: b.set_spout("sentences", Sentences()), "COMPONENT_TWICE"),
    (lambda b: b.set_bolt("split", Split()), "BOLT_INPUT"),
    (lambda b: b.set_bolt("split", Split(), 0), "COMPONENT_PARALLELISM"),
    (lambda b: b.set_spout("more", Sentences()).set_num_tasks(0), "COMPONENT_PARALLELISM"),
    (lambda b: b.set_bolt("s", Split()).shuffle_grouping("sentence"), "COMPONENT_MISSING"),
    (lambda b: b.set_bolt("s", Split()).all_grouping("sentences", stream="x"), "STREAM_UNDECLARED"),
    (lambda b: b.set_bolt("s", Split()).fields_grouping("sentences", "word"), "TUPLE_FIELD"),
    (lambda b: b.set_bolt("s", Split()).direct_grouping("sentences"), "STREAM_DIRECT"),
    (
        lambda b: b.set_bolt("s", Split()).none_grouping("sentences", stream="pointed"),
        "STREAM_DIRECT",
    ),
]


@pytest.mark.parametrize(("wrong", "code"), WRONG)
def test_parts_that_do_not_fit_are_refused(wrong: Wrong, code: str) -> None:
    def built() -> None:
        builder = started()
        wrong(builder)
        builder.create_topology()

    with pytest.raises(ModelError) as raised:
        built()
    assert raised.value.code == code


def test_a_misspelt_source_is_named() -> None:
    builder = started()
    builder.set_bolt("split", Split()).global_grouping("sentense")
    with pytest.raises(ModelError, match='Did you mean "sentences"'):
        builder.create_topology()


def test_a_topology_needs_a_spout() -> None:
    builder = TopologyBuilder()
    builder.set_bolt("split", Split()).shuffle_grouping("split")
    with pytest.raises(ModelError) as raised:
        builder.create_topology()
    assert raised.value.code == "TOPOLOGY_SPOUT"


@pytest.mark.parametrize("fields", [("a", "a"), ("b",)])
def test_a_stream_and_a_field_are_declared_once(fields: tuple[str, ...]) -> None:
    declarer = OutputDeclarer("words")
    declarer.declare("word", stream="default" if fields == ("b",) else "other")
    with pytest.raises(ModelError) as raised:
        declarer.declare(*fields)
    assert raised.value.code == "STREAM_TWICE"
