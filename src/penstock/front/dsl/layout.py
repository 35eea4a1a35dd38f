"""Where the steps of a graph stand: in layers from top to bottom, with room for every line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from penstock.model.graph import Edge, Graph

GAP_ACROSS = 28
GAP_DOWN = 44
MARGIN = 12


@dataclass(frozen=True, slots=True)
class Place:
    """A rectangle; x and y are its upper left corner."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        """Half way across."""
        return self.x + self.width / 2

    @property
    def bottom(self) -> float:
        """The lower edge."""
        return self.y + self.height


@dataclass(frozen=True, slots=True)
class Layout:
    """The place of every step, and the places that every line goes through from end to end."""

    steps: Mapping[str, Place]
    lines: Mapping[Edge, tuple[Place, ...]]
    width: float
    height: float


@dataclass(slots=True)
class _Sheet:
    """Layers of names, what each name lies under, and the sizes of those that are steps."""

    layers: list[list[str]]
    above: dict[str, list[str]] = field(default_factory=dict)
    ways: dict[Edge, list[str]] = field(default_factory=dict)


def layout(graph: Graph, sizes: Mapping[str, tuple[float, float]]) -> Layout:
    """Place the steps of a graph, whose sizes are width and height."""
    sheet = _sheet(graph)
    places = _places(sheet, sizes)
    return Layout(
        {node.id: places[node.id] for node in graph.nodes},
        {edge: tuple(places[name] for name in way) for edge, way in sheet.ways.items()},
        max(place.x + place.width for place in places.values()) + MARGIN,
        max(place.bottom for place in places.values()) + MARGIN,
    )


def _sheet(graph: Graph) -> _Sheet:
    """Give each step the layer of the longest way to it, and long lines a gap in each between."""
    depth: dict[str, int] = {}
    for node in graph.nodes:
        depth[node.id] = 1 + max((depth[name] for name in graph.inputs(node)), default=-1)
    sheet = _Sheet([[] for _ in range(1 + max(depth.values()))])
    for node in graph.nodes:
        sheet.layers[depth[node.id]].append(node.id)
    for edge in graph.edges:
        way = [edge.source]
        for layer in range(depth[edge.source] + 1, depth[edge.target]):
            way.append(f"{edge.source}-{edge.target}-{layer}")
            sheet.layers[layer].append(way[-1])
        way.append(edge.target)
        sheet.ways[edge] = way
        for upper, lower in pairwise(way):
            sheet.above.setdefault(lower, []).append(upper)
    return sheet


def _places(sheet: _Sheet, sizes: Mapping[str, tuple[float, float]]) -> dict[str, Place]:
    widths = [_across([sizes.get(name, (0.0, 0.0))[0] for name in layer]) for layer in sheet.layers]
    places: dict[str, Place] = {}
    y = float(MARGIN)
    for layer, width in zip(sheet.layers, widths, strict=True):
        height = max(sizes[name][1] for name in layer if name in sizes)
        x = MARGIN + (max(widths) - width) / 2
        for name in sorted(layer, key=lambda name: _pull(sheet, name, places)):
            own = sizes.get(name, (0.0, height))
            places[name] = Place(x, y, *own)
            x += own[0] + GAP_ACROSS
        y += height + GAP_DOWN
    return places


def _pull(sheet: _Sheet, name: str, places: Mapping[str, Place]) -> float:
    """Give the middle of what lies above, so that lines seldom cross."""
    above = [places[upper].middle for upper in sheet.above.get(name, [])]
    return sum(above) / len(above) if above else 0.0


def _across(widths: list[float]) -> float:
    return sum(widths) + GAP_ACROSS * (len(widths) - 1)
