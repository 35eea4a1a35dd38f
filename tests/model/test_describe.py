from __future__ import annotations

from penstock.model.aggregate import Aggregate
from penstock.model.describe import describe
from penstock.model.expr import Column
from penstock.model.graph import Edge, graph_of
from penstock.model.measure import Measure
from penstock.model.plan import Plan, Sink
from penstock.model.refine import Refinement
from penstock.model.stateless import Filter, Named, Project, Union
from tests.model.programs import a_stream


def a_plan() -> Plan:
    source = Project(a_stream(), (Named("user", Column("user")), Named("ok", Column("ok"))))
    good = Filter(source, Column("ok"), "shop.py:2")
    counted = Aggregate(
        good, ("user",), (Measure("n", "count"),), refinement=Refinement("retracting")
    )
    both = Union((source, good))
    return Plan("shop", (Sink(counted, "counts", ("user",), dead=None), Sink(both, "all")))


def test_the_graph_has_every_step_once_and_every_stream() -> None:
    graph = graph_of(a_plan())
    assert [f"{node.id} {node.kind}" for node in graph.nodes] == [
        "s1 stream",
        "s2 project",
        "s3 filter",
        "s4 aggregate",
        "s5 union",
        "o1 topic",
        "o2 topic",
    ]
    assert graph.edges == (
        Edge("s1", "s2"),
        Edge("s2", "s3"),
        Edge("s3", "s4"),
        Edge("s2", "s5"),
        Edge("s3", "s5"),
        Edge("s4", "o1", changelog=True),
        Edge("s5", "o2"),
    )
    assert graph.inputs(graph.nodes[4]) == ("s2", "s3")


def test_the_description_names_steps_inputs_places_and_columns() -> None:
    text = describe(a_plan())
    lines = [line.strip() for line in text.splitlines()]
    assert lines[0] == "program shop"
    assert "s3 filter ok  <- s2  (shop.py:2)" in lines
    assert "s5 union  <- s2, s3" in lines
    assert "gives user string, n int64" in lines
    assert "o1 topic counts  <- s4" in lines
    assert "key user" in lines
    assert "late rows to counts.late" in lines
    assert "dead letters to counts.dead" not in lines
