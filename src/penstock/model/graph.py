"""The dataflow graph of a program: its steps, and the streams between them."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.model.plan import Plan
from penstock.model.sink_words import written
from penstock.model.words import step_words


@dataclass(frozen=True, slots=True)
class Node:
    """A step: what it is called, what it does, and where the user wrote it."""

    id: str
    kind: str
    title: str
    details: tuple[str, ...] = ()
    columns: str = ""
    site: str = ""


@dataclass(frozen=True, slots=True)
class Edge:
    """A stream from one step to another; `changelog` says that it may take rows back."""

    source: str
    target: str
    changelog: bool = False


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes, inputs first, and the edges between them."""

    name: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    def inputs(self, node: Node) -> tuple[str, ...]:
        """Give the ids of the steps that a step reads."""
        return tuple(edge.source for edge in self.edges if edge.target == node.id)


def graph_of(plan: Plan) -> Graph:
    """Give the graph of a program; steps are numbered in order, inputs first."""
    nodes: list[Node] = []
    edges: list[Edge] = []
    ids: dict[int, str] = {}
    for number, relation in enumerate(plan.walk(), start=1):
        name = ids[id(relation)] = f"s{number}"
        words = step_words(relation)
        columns = str(relation.schema)
        site = str(getattr(relation, "site", ""))
        nodes.append(Node(name, words.kind, words.title, words.details, columns, site))
        edges += [Edge(ids[id(item)], name, item.retracts) for item in relation.inputs]
    for number, sink in enumerate(plan.sinks, start=1):
        name = f"o{number}"
        sides = {"late rows": sink.late_topic, "dead letters": sink.dead_topic}
        details = tuple(f"{what} to {topic}" for what, topic in sides.items() if topic)
        keyed = (f"key {', '.join(sink.keys)}",) if sink.keys else ()
        kind = "topic" if sink.store is None else "store"
        title = f"{sink.place}{written(sink)}"
        nodes.append(Node(name, kind, title, keyed + details, "", sink.site))
        edges.append(Edge(ids[id(sink.relation)], name, sink.relation.retracts))
    return Graph(plan.name, tuple(nodes), tuple(edges))
