"""A program as text: its dataflow graph."""

from __future__ import annotations

from penstock.model.graph import Graph, Node, graph_of
from penstock.model.plan import Plan


def describe(plan: Plan) -> str:
    """Write every step with the steps it reads, what it does, and the columns it gives."""
    graph = graph_of(plan)
    lines = [f"program {graph.name}"]
    for node in graph.nodes:
        lines += _node(graph, node)
    return "\n".join(lines) + "\n"


def _node(graph: Graph, node: Node) -> list[str]:
    inputs = graph.inputs(node)
    arrow = f"  <- {', '.join(inputs)}" if inputs else ""
    site = f"  ({node.site})" if node.site else ""
    head = f"  {node.id} {node.kind} {node.title}".rstrip()
    columns = [f"       gives {node.columns}"] if node.columns else []
    return [f"{head}{arrow}{site}", *(f"       {detail}" for detail in node.details), *columns]
