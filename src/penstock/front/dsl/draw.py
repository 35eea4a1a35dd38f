"""The dataflow graph as a drawing, without any library."""

from __future__ import annotations

from html import escape
from itertools import pairwise

from penstock.front.dsl.layout import Place, layout
from penstock.model.graph import Edge, Graph, Node

_LETTER = 6.8
_LINE = 16
_PAD = 10
_WIDEST = 56
_FILL = {"stream": "#e3eefc", "topic": "#e4f5e6", "aggregate": "#fdf0dc"}
_STYLE = (
    "font-family:ui-monospace,Menlo,Consolas,monospace;font-size:11px;"
    "background:#ffffff;max-width:100%;height:auto"
)
_ARROW = (
    '<defs><marker id="penstock-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
    'markerHeight="7" orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="#555"/></marker></defs>'
)


def draw(graph: Graph) -> str:
    """Draw a graph as SVG; the rows of a dashed line may be taken back."""
    plan = layout(graph, {node.id: _size(node) for node in graph.nodes})
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{plan.width:.0f}" '
        f'height="{plan.height:.0f}" viewBox="0 0 {plan.width:.0f} {plan.height:.0f}" '
        f'style="{_STYLE}">',
        f"<title>{escape(graph.name)}</title>",
        _ARROW,
        *(_line(edge, way) for edge, way in plan.lines.items()),
        *(_box(node, plan.steps[node.id]) for node in graph.nodes),
        "</svg>",
    ]
    return "\n".join(parts)


def _size(node: Node) -> tuple[float, float]:
    lines = _lines(node)
    width = max(len(_short(line)) for line in lines) * _LETTER + 2 * _PAD
    return width, len(lines) * _LINE + _PAD


def _lines(node: Node) -> tuple[str, ...]:
    return (f"{node.id} {node.kind} {node.title}".strip(), *node.details)


def _short(text: str) -> str:
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…"


def _box(node: Node, place: Place) -> str:
    columns = f"gives {node.columns}" if node.columns else ""
    whole = "\n".join(line for line in (*_lines(node), columns, node.site) if line)
    text = "".join(
        f'<text x="{place.x + _PAD:.1f}" y="{place.y + _LINE * (number + 1):.1f}" '
        f'xml:space="preserve" fill="#222"{_weight(number)}>{escape(_short(line))}</text>'
        for number, line in enumerate(_lines(node))
    )
    return (
        f"<g><title>{escape(whole)}</title>"
        f'<rect x="{place.x:.1f}" y="{place.y:.1f}" width="{place.width:.1f}" '
        f'height="{place.height:.1f}" rx="6" fill="{_FILL.get(node.kind, "#f4f4f4")}" '
        f'stroke="#888"/>{text}</g>'
    )


def _weight(number: int) -> str:
    return ' font-weight="bold"' if number == 0 else ""


def _line(edge: Edge, way: tuple[Place, ...]) -> str:
    path = f"M{way[0].middle:.1f},{way[0].bottom:.1f}"
    for upper, lower in pairwise(way):
        bend = (lower.y - upper.bottom) / 2
        path += (
            f" C{upper.middle:.1f},{upper.bottom + bend:.1f} "
            f"{lower.middle:.1f},{lower.y - bend:.1f} {lower.middle:.1f},{lower.y:.1f}"
        )
        if lower is not way[-1]:
            path += f" L{lower.middle:.1f},{lower.bottom:.1f}"
    dashes = ' stroke-dasharray="5 3"' if edge.changelog else ""
    return f'<path d="{path}" fill="none" stroke="#555" marker-end="url(#penstock-arrow)"{dashes}/>'
