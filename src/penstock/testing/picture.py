"""Draws what happened: rows, the watermark and the panes of each window, as one SVG picture.

Event time runs to the right and processing time upwards, as in the papers on the Dataflow
model. A row is a dot where it happened and was seen; the watermark is a line; a pane is a box
from the window's start to its end, as high as the time until it was given, with its result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape

WIDTH, HEIGHT, MARGIN = 780, 470, 84
_COLOURS = {"early": "#3b82f6", "on-time": "#16a34a", "late": "#ea580c"}
_STYLE = (
    "text{font:12px sans-serif;fill:#1f2937}.axis{stroke:#9ca3af}.grid{stroke:#e5e7eb}"
    ".mark{stroke:#b91c1c;fill:none;stroke-width:1.5;stroke-dasharray:5 3}"
)


@dataclass(frozen=True, slots=True)
class Dot:
    """A row: when it happened, when it was seen, and what stands in the dot."""

    happened_at: int
    seen_at: int
    label: str
    late: bool = False


@dataclass(frozen=True, slots=True)
class Box:
    """A pane: its window, when it was given, what it says, and whether it takes one back."""

    start: int
    end: int
    given_at: int
    label: str
    timing: str = "on-time"
    taken_back: bool = False


@dataclass(frozen=True, slots=True)
class Picture:
    """Rows, panes and the watermark, as (processing time, event time) pairs; milliseconds."""

    title: str
    dots: Sequence[Dot]
    boxes: Sequence[Box]
    watermark: Sequence[tuple[int, int]] = ()

    def svg(self) -> str:
        """Draw it."""
        across, up = self._scales()
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"'
            f' role="img" aria-label="{escape(self.title)}">',
            f"<style>{_STYLE}</style>",
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
            f'<text x="{MARGIN}" y="20" font-weight="bold">{escape(self.title)}</text>',
            *self._axes(across, up),
            *self._panes(across, up),
            *self._line(across, up),
            *self._rows(across, up),
            *_legend(),
            "</svg>",
        ]
        return "\n".join(parts)

    def _scales(self) -> tuple[Callable[[int], float], Callable[[int], float]]:
        events = [dot.happened_at for dot in self.dots]
        events += [edge for box in self.boxes for edge in (box.start, box.end)]
        clocks = [dot.seen_at for dot in self.dots] + [box.given_at for box in self.boxes]
        clocks += [clock for clock, _ in self.watermark]
        return (
            _scale(events, MARGIN, WIDTH - 20),
            _scale(clocks, HEIGHT - MARGIN + 10, 46),
        )

    def _axes(self, across: Callable[[int], float], up: Callable[[int], float]) -> list[str]:
        bottom = HEIGHT - MARGIN + 10
        edges = sorted({edge for box in self.boxes for edge in (box.start, box.end)})
        given = sorted({box.given_at for box in self.boxes})
        lines = [
            f'<line class="axis" x1="{MARGIN}" y1="{bottom}" x2="{WIDTH - 20}" y2="{bottom}"/>',
            f'<line class="axis" x1="{MARGIN}" y1="{bottom}" x2="{MARGIN}" y2="46"/>',
            f'<text x="{WIDTH // 2}" y="{HEIGHT - 8}" text-anchor="middle">event time</text>',
            f'<text x="14" y="{HEIGHT // 2}" text-anchor="middle"'
            f' transform="rotate(-90 14 {HEIGHT // 2})">processing time</text>',
        ]
        for at, edge in _apart(edges, across, 52):
            lines.append(f'<line class="grid" x1="{at}" y1="46" x2="{at}" y2="{bottom}"/>')
            lines.append(
                f'<text x="{at}" y="{bottom + 16}" text-anchor="middle">{_time(edge)}</text>'
            )
        for at, clock in _apart(given, up, 14):
            lines.append(
                f'<text x="{MARGIN - 4}" y="{at + 4}" text-anchor="end">{_time(clock)}</text>'
            )
        return lines

    def _panes(self, across: Callable[[int], float], up: Callable[[int], float]) -> list[str]:
        lines: list[str] = []
        begun: dict[tuple[int, int], float] = {}
        for box in self.boxes:
            if box.taken_back:
                continue
            left, right, top = across(box.start), across(box.end), up(box.given_at)
            floor = begun.get((box.start, box.end), HEIGHT - MARGIN + 10)
            begun[(box.start, box.end)] = top
            colour = _COLOURS.get(box.timing, "#6b7280")
            lines.append(
                f'<rect x="{left}" y="{top}" width="{max(right - left, 1):.1f}"'
                f' height="{max(floor - top, 1):.1f}" fill="{colour}" fill-opacity="0.12"'
                f' stroke="{colour}"/>'
            )
            lines.append(
                f'<text x="{left + 6}" y="{top + 13}" font-weight="bold"'
                f' style="fill:{colour}">{escape(box.label)}</text>'
            )
        return lines

    def _line(self, across: Callable[[int], float], up: Callable[[int], float]) -> list[str]:
        points = [f"{across(event)},{up(clock)}" for clock, event in self.watermark]
        if not points:
            return []
        last = points[-1].split(",")
        return [
            f'<polyline class="mark" points="{" ".join(points)}"/>',
            f'<text x="{last[0]}" y="{float(last[1]) - 6}" text-anchor="end">watermark</text>',
        ]

    def _rows(self, across: Callable[[int], float], up: Callable[[int], float]) -> list[str]:
        lines: list[str] = []
        for dot in self.dots:
            x, y = across(dot.happened_at), up(dot.seen_at)
            colour = "#ea580c" if dot.late else "#374151"
            lines.append(f'<circle cx="{x}" cy="{y}" r="9" fill="white" stroke="{colour}"/>')
            lines.append(
                f'<text x="{x}" y="{y + 4}" text-anchor="middle">{escape(dot.label)}</text>'
            )
        return lines


def _legend() -> list[str]:
    lines: list[str] = []
    for number, (timing, colour) in enumerate(_COLOURS.items()):
        x = WIDTH - 230 + number * 75
        lines.append(f'<rect x="{x}" y="10" width="11" height="11" fill="{colour}"/>')
        lines.append(f'<text x="{x + 16}" y="20">{timing}</text>')
    return lines


def _scale(values: Sequence[int], low: float, high: float) -> Callable[[int], float]:
    first, last = (min(values), max(values)) if values else (0, 1)
    width = max(last - first, 1)

    def at(value: int) -> float:
        within = min(max(value, first), last)
        return round(low + (high - low) * (within - first) / width, 1)

    return at


def _apart(
    values: Sequence[int], scale: Callable[[int], float], gap: float
) -> list[tuple[float, int]]:
    """Leave out values whose labels would lie on one another."""
    kept: list[tuple[float, int]] = []
    for value in values:
        at = scale(value)
        if not kept or abs(at - kept[-1][0]) >= gap:
            kept.append((at, value))
    return kept


def _time(millis: int) -> str:
    moment = datetime.fromtimestamp(millis / 1000, UTC)
    return moment.strftime("%H:%M:%S" if moment.second else "%H:%M")
