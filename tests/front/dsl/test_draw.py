from __future__ import annotations

from itertools import combinations
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from penstock.front.dsl.draw import draw
from penstock.front.dsl.layout import Layout, Place, layout
from penstock.model.graph import Edge, Graph, Node

SVG = "{http://www.w3.org/2000/svg}"


@st.composite
def graphs(sample: st.DrawFn) -> Graph:
    """Any dataflow graph: each step reads some of those before it."""
    count = sample(st.integers(1, 8))
    nodes = tuple(Node(f"s{n}", "filter", "n" * sample(st.integers(0, 30))) for n in range(count))
    edges = []
    for target in range(1, count):
        sources = sample(st.sets(st.integers(0, target - 1), max_size=3))
        edges += [Edge(f"s{source}", f"s{target}") for source in sorted(sources)]
    return Graph("any", nodes, tuple(edges))


def placed(graph: Graph) -> Layout:
    return layout(graph, {node.id: (10.0 + len(node.title), 20.0) for node in graph.nodes})


def overlap(one: Place, other: Place) -> bool:
    across = one.x < other.x + other.width and other.x < one.x + one.width
    return across and one.y < other.bottom and other.y < one.bottom


@given(graphs())
def test_no_two_steps_cover_each_other(graph: Graph) -> None:
    places = placed(graph).steps.values()
    assert not [pair for pair in combinations(places, 2) if overlap(*pair)]


@given(graphs())
def test_every_line_leads_downwards_and_through_no_step(graph: Graph) -> None:
    plan = placed(graph)
    for edge, way in plan.lines.items():
        assert way[0] == plan.steps[edge.source]
        assert way[-1] == plan.steps[edge.target]
        assert [place.y for place in way] == sorted({place.y for place in way})
        crossed = [step for gap in way[1:-1] for step in plan.steps.values() if overlap(gap, step)]
        assert crossed == []


@given(graphs())
def test_everything_lies_on_the_sheet(graph: Graph) -> None:
    plan = placed(graph)
    for place in plan.steps.values():
        assert place.x > 0
        assert place.y > 0
        assert place.x + place.width < plan.width
        assert place.bottom < plan.height


def test_the_drawing_has_every_step_and_every_stream_and_escapes_what_users_wrote() -> None:
    nodes = (
        Node("s1", "stream", "a<b>&c", ("x" * 80,), "n int64", "shop.py:1"),
        Node("o1", "topic", "out"),
    )
    root = ElementTree.fromstring(
        draw(Graph('"<shop>"', nodes, (Edge("s1", "o1", changelog=True),)))
    )
    assert root.findtext(f"{SVG}title") == '"<shop>"'
    boxes = root.findall(f"{SVG}g")
    assert [box.findtext(f"{SVG}text") for box in boxes] == ["s1 stream a<b>&c", "o1 topic out"]
    assert boxes[0].findall(f"{SVG}text")[1].text == "x" * 55 + "…"
    whole = boxes[0].findtext(f"{SVG}title")
    assert whole == f"s1 stream a<b>&c\n{'x' * 80}\ngives n int64\nshop.py:1"
    (line,) = root.findall(f"{SVG}path")
    assert line.get("stroke-dasharray")
