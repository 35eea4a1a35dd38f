"""Where the boxes and lines of a dataflow are drawn: in layers, from left to right."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, TypeAlias

WIDTH: Final = 208
HEIGHT: Final = 62
ACROSS: Final = 172
"""Between two layers: room for what is written on a line."""
DOWN: Final = 26
LABEL_HEIGHT: Final = 34
_MARGIN: Final = 14
_BEND_HEIGHT: Final = 40
_SWEEPS: Final = 6
_SETTLINGS: Final = 12

Link: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Point:
    """A place, in pixels from the left and from the top."""

    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything is: boxes by their upper left corner, labels by their middle."""

    boxes: Mapping[str, Point]
    lines: Mapping[Link, str]
    """What each line is, as a path of SVG."""
    labels: Mapping[Link, Point]
    width: float
    height: float


@dataclass(slots=True)
class _Drawing:
    """Boxes and bends in layers; a bend is where a line passes a layer that it skips."""

    layers: list[list[str]]
    chains: dict[Link, list[str]]
    bends: set[str] = field(default_factory=set)
    middle: dict[str, float] = field(default_factory=dict)

    def height(self, item: str) -> float:
        return _BEND_HEIGHT if item in self.bends else HEIGHT

    def neighbours(self) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
        before: dict[str, list[str]] = defaultdict(list)
        after: dict[str, list[str]] = defaultdict(list)
        for chain in self.chains.values():
            for left, right in pairwise(chain):
                before[right].append(left)
                after[left].append(right)
        return before, after


def lay_out(nodes: Sequence[str], links: Iterable[Link]) -> Layout:
    """Place nodes so that what flows goes to the right; a line that leads back is drawn last."""
    known = set(nodes)
    asked = list(dict.fromkeys(link for link in links if known.issuperset(link)))
    forward = _without_cycles(nodes, asked)
    ranks = _ranks(nodes, forward)
    drawing = _layered(nodes, forward, ranks)
    _order(drawing)
    _settle(drawing)
    top = min(drawing.middle.values(), default=0) - HEIGHT / 2 - _MARGIN
    places = {
        item: Point(_left(rank), drawing.middle[item] - top)
        for rank, layer in enumerate(drawing.layers)
        for item in layer
    }
    boxes = {node: Point(places[node].x, places[node].y - HEIGHT / 2) for node in nodes}
    lines = {
        link: _path([places[item] for item in drawing.chains[link]], drawing, link)
        for link in forward
    }
    back = [link for link in asked if link not in drawing.chains]
    lines |= {link: _back_path(places[link[0]], places[link[1]]) for link in back}
    labels = _labels(
        {link: [places[item] for item in drawing.chains.get(link, link)] for link in asked}
    )
    bottom = max((place.y for place in places.values()), default=0) + HEIGHT / 2 + _MARGIN
    below = max((spot.y + LABEL_HEIGHT / 2 for spot in labels.values()), default=0)
    return Layout(
        boxes,
        lines,
        labels,
        max(0, _left(len(drawing.layers)) - ACROSS + _MARGIN),
        max(bottom, below),
    )


def _left(rank: int) -> float:
    return _MARGIN + rank * (WIDTH + ACROSS)


def _without_cycles(nodes: Sequence[str], links: Sequence[Link]) -> list[Link]:
    """Leave out the lines that lead back to where a search from the sources came from."""
    targets: dict[str, list[str]] = defaultdict(list)
    entered = {target for _, target in links}
    for source, target in links:
        targets[source].append(target)
    back: set[Link] = set()
    state: dict[str, int] = {}
    for start in [*(node for node in nodes if node not in entered), *nodes]:
        if start in state:
            continue
        state[start] = 1
        stack = [(start, iter(targets[start]))]
        while stack:
            node, rest = stack[-1]
            following = next(rest, None)
            if following is None:
                state[node] = 2
                stack.pop()
            elif state.get(following) == 1:
                back.add((node, following))
            elif following not in state:
                state[following] = 1
                stack.append((following, iter(targets[following])))
    return [link for link in links if link not in back]


def _ranks(nodes: Sequence[str], links: Sequence[Link]) -> dict[str, int]:
    """Give each node its layer: one to the right of all that lead to it."""
    targets: dict[str, list[str]] = defaultdict(list)
    waiting: dict[str, int] = dict.fromkeys(nodes, 0)
    for source, target in links:
        targets[source].append(target)
        waiting[target] += 1
    ranks = dict.fromkeys(nodes, 0)
    ready = [node for node in nodes if not waiting[node]]
    for node in ready:
        for target in targets[node]:
            ranks[target] = max(ranks[target], ranks[node] + 1)
            waiting[target] -= 1
            if not waiting[target]:
                ready.append(target)
    for node in reversed(ready):
        # What only gives stands beside what takes it, so that lines are short.
        if targets[node] and not any(target == node for _, target in links):
            ranks[node] = min(ranks[target] for target in targets[node]) - 1
    return ranks


def _layered(nodes: Sequence[str], links: Sequence[Link], ranks: Mapping[str, int]) -> _Drawing:
    layers: list[list[str]] = [[] for _ in range(max(ranks.values(), default=-1) + 1)]
    for node in nodes:
        layers[ranks[node]].append(node)
    drawing = _Drawing(layers, {})
    for number, (source, target) in enumerate(links):
        chain = [source]
        for rank in range(ranks[source] + 1, ranks[target]):
            bend = f"\0{number}:{rank}"
            drawing.bends.add(bend)
            layers[rank].append(bend)
            chain.append(bend)
        drawing.chains[source, target] = [*chain, target]
    return drawing


def _order(drawing: _Drawing) -> None:
    """Sort each layer by where its neighbours are, to and fro, so that few lines cross."""
    before, after = drawing.neighbours()
    for sweep in range(_SWEEPS):
        forward = sweep % 2 == 0
        near = before if forward else after
        for layer in drawing.layers if forward else reversed(drawing.layers):
            at = {item: place for others in drawing.layers for place, item in enumerate(others)}
            layer.sort(
                key=lambda item, at=at, near=near: _mean(  # type: ignore[misc]
                    [at[other] for other in near[item]], at[item]
                )
            )


def _settle(drawing: _Drawing) -> None:
    """Move boxes to the height of their neighbours, as far as those of their layer let them."""
    for layer in drawing.layers:
        y = 0.0
        for item in layer:
            y += drawing.height(item) / 2
            drawing.middle[item] = y
            y += drawing.height(item) / 2 + DOWN
    before, after = drawing.neighbours()
    for turn in range(_SETTLINGS):
        for layer in drawing.layers if turn % 2 == 0 else reversed(drawing.layers):
            wanted = [
                _mean(
                    [drawing.middle[other] for other in before[item] + after[item]],
                    drawing.middle[item],
                )
                for item in layer
            ]
            _place(drawing, layer, wanted)


def _place(drawing: _Drawing, layer: Sequence[str], wanted: Sequence[float]) -> None:
    places: list[float] = []
    for number, (item, at) in enumerate(zip(layer, wanted, strict=True)):
        if number:
            above = layer[number - 1]
            apart = (drawing.height(above) + drawing.height(item)) / 2 + DOWN
            places.append(max(at, places[-1] + apart))
        else:
            places.append(at)
    # All were pushed down only: the layer as a whole goes back to where it wants to be.
    shift = _mean([at - place for at, place in zip(wanted, places, strict=True)], 0.0)
    for item, place in zip(layer, places, strict=True):
        drawing.middle[item] = place + shift


def _path(places: Sequence[Point], drawing: _Drawing, link: Link) -> str:
    chain = drawing.chains[link]
    parts = [f"M{places[0].x + WIDTH:.0f} {places[0].y:.1f}"]
    for number, (left, right) in enumerate(pairwise(places)):
        start = left.x + WIDTH
        if number and chain[number] in drawing.bends:
            parts.append(f"H{start:.0f}")
        middle = (start + right.x) / 2
        parts.append(
            f"C{middle:.0f} {left.y:.1f} {middle:.0f} {right.y:.1f} {right.x:.0f} {right.y:.1f}"
        )
    return " ".join(parts)


def _back_path(source: Point, target: Point) -> str:
    start, end = source.x + WIDTH, target.x
    under = max(source.y, target.y) + HEIGHT
    return (
        f"M{start:.0f} {source.y:.1f} C{start + 80:.0f} {under:.1f}"
        f" {end - 80:.0f} {under:.1f} {end:.0f} {target.y:.1f}"
    )


def _labels(chains: Mapping[Link, Sequence[Point]]) -> dict[Link, Point]:
    """Put a label onto the first stretch of each line, moved where another one is."""
    labels: dict[Link, Point] = {}
    columns: dict[float, list[tuple[float, Link]]] = defaultdict(list)
    for link, places in chains.items():
        left, right = places[0], places[1]
        x = left.x + WIDTH + ACROSS / 2
        columns[x].append(((left.y + right.y) / 2, link))
    for x, found in columns.items():
        last = float("-inf")
        for y, link in sorted(found):
            at = max(y, last + LABEL_HEIGHT)
            labels[link] = Point(x, at)
            last = at
    return labels


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise
