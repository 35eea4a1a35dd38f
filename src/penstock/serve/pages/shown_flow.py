"""The dataflow as pages ask for it: one look for all who ask within a second."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from penstock.serve.platform import Platform
from penstock.watch.graph import Dataflow, Edge, Graph, Node

_FRESH_SECONDS: Final = 1.0
MOST_DRAWN: Final = 90


class SharedFlow:
    """Gives the dataflow of a platform; many pages that look at once cost one look."""

    def __init__(self, platform: Platform) -> None:
        self._flow = Dataflow(platform.home, platform.log)
        self._turn = threading.Lock()
        self._at = 0.0
        self._graph: Graph | None = None

    def look(self) -> Graph:
        """Give the graph as it was a second ago at most."""
        with self._turn:
            if self._graph is None or time.monotonic() - self._at > _FRESH_SECONDS:
                self._graph = self._flow.look()
                self._at = time.monotonic()
            return self._graph


@dataclass(frozen=True, slots=True)
class Shown:
    """The part of a dataflow that is drawn, and what stands alone."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    alone: tuple[Node, ...] = ()
    left_out: int = field(default=0)
    """How many connected nodes were too many to be drawn."""

    @property
    def shape(self) -> tuple[object, ...]:
        """What must be the same for the drawing to stay as it is."""
        return (
            tuple(node.id for node in self.nodes),
            tuple((edge.source, edge.target) for edge in self.edges),
        )


def shown_part(graph: Graph, search: str = "", *, internal: bool = False) -> Shown:
    """Choose what is drawn: what is connected, and with a search what flows to or from it."""
    known = [node for node in graph.nodes if internal or not node.internal]
    ids = {node.id for node in known}
    edges = [edge for edge in graph.edges if edge.source in ids and edge.target in ids]
    word = search.strip().lower()
    found = {node.id for node in known if word in node.name.lower()}
    joined = {end for edge in edges for end in (edge.source, edge.target)}
    # A job is drawn even where nobody knows what it reads.
    joined |= {node.id for node in known if node.kind == "job"}
    drawn = _connected(found & joined, edges) if word else joined
    chosen, left_out = _fewest(known, drawn, edges)
    return Shown(
        tuple(node for node in known if node.id in chosen),
        tuple(edge for edge in edges if edge.source in chosen and edge.target in chosen),
        tuple(node for node in known if node.id not in joined and node.id in found),
        left_out,
    )


def _connected(start: Iterable[str], edges: Iterable[Edge]) -> set[str]:
    """Give what flows into some nodes and what comes of them."""
    down: dict[str, list[str]] = defaultdict(list)
    up: dict[str, list[str]] = defaultdict(list)
    for edge in edges:
        down[edge.source].append(edge.target)
        up[edge.target].append(edge.source)
    found = set(start)
    for ways in (down, up):
        waiting = list(start)
        seen = set(waiting)
        while waiting:
            for other in ways[waiting.pop()]:
                if other not in seen:
                    seen.add(other)
                    waiting.append(other)
        found |= seen
    return found


def _fewest(known: list[Node], drawn: set[str], edges: list[Edge]) -> tuple[set[str], int]:
    """Keep whole neighbourhoods, jobs first, up to as many as can be read."""
    if len(drawn) <= MOST_DRAWN:
        return drawn, 0
    kept: set[str] = set()
    for node in known:
        if node.kind != "job" or node.id not in drawn:
            continue
        around = {node.id} | {
            end
            for edge in edges
            if node.id in (edge.source, edge.target)
            for end in (edge.source, edge.target)
        }
        if len(kept | around) > MOST_DRAWN:
            break
        kept |= around
    return kept, len(drawn) - len(kept)
