"""Bars with whiskers and a line for the target, as SVG that any page can show."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from bench.result import Measure, Spread, spread
from bench.table import number

_FEWEST_LABELS = 400
_LETTER = 6.6
"""About what a letter takes; a label that is cut off says nothing."""
_ROW = 22
_TOP = 44
_BAR = 370
_VALUE = 90
_STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#222}.head{font-weight:600}"
    ".met{fill:#2f7d6b}.missed{fill:#c0562f}.plain{fill:#5b7fa6}"
    ".whisker{stroke:#222;stroke-width:1}.line{stroke:#999;stroke-dasharray:3 3}"
)


@dataclass(frozen=True, slots=True)
class Bar:
    """One number with its spread; `met` colours it where there is a target."""

    label: str
    value: Spread
    met: bool | None = None


def ratio_bars(measures: tuple[Measure, ...]) -> list[Bar]:
    """The ratios of the measures that have a baseline."""
    return [
        Bar(f"{measure.label} [{measure.unit}]", spread(measure.ratios), measure.met)
        for measure in measures
        if measure.ratios
    ]


def value_bars(measures: tuple[Measure, ...], unit: str) -> list[Bar]:
    """The numbers of the measures without a baseline that are in one unit."""
    return [
        Bar(measure.label, spread(measure.ours), measure.met)
        for measure in measures
        if not measure.ratios and measure.unit == unit
    ]


def draw(title: str, bars: list[Bar], *, line: float | None = None) -> str:
    """Give the SVG of a bar chart, with a dashed line at one value."""
    most = max([bar.value.most for bar in bars] + ([] if line is None else [line])) or 1.0
    scale = _Scale(_labels(bars), most)
    width, height = scale.left + _BAR + _VALUE, _TOP + _ROW * len(bars) + 12
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">',
        f"<style>{_STYLE}</style>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        f'<text class="head" x="12" y="22">{escape(title)}</text>',
        *(_bar(bar, _TOP + _ROW * place, scale) for place, bar in enumerate(bars)),
    ]
    if line is not None:
        x = scale.x(line)
        parts.append(f'<line class="line" x1="{x}" x2="{x}" y1="{_TOP - 6}" y2="{height - 8}"/>')
        parts.append(f'<text x="{x}" y="{_TOP - 9}" text-anchor="middle">{number(line)}</text>')
    return "\n".join([*parts, "</svg>", ""])


@dataclass(frozen=True, slots=True)
class _Scale:
    """Where the bars begin, right of all labels, and how long the longest is."""

    left: int
    most: float

    def x(self, value: float) -> float:
        """Give how far to the right a value is."""
        return round(self.left + max(0.0, value) / self.most * _BAR, 1)


def _labels(bars: list[Bar]) -> int:
    longest = max((len(bar.label) for bar in bars), default=0)
    return max(_FEWEST_LABELS, 20 + round(_LETTER * longest))


def _bar(bar: Bar, top: int, scale: _Scale) -> str:
    colour = {None: "plain", True: "met", False: "missed"}[bar.met]
    end, middle = scale.x(bar.value.median), top + 8
    low, high = scale.x(bar.value.least), scale.x(bar.value.most)
    return (
        f'<text x="{scale.left - 8}" y="{top + 12}" text-anchor="end">{escape(bar.label)}</text>'
        f'<rect class="{colour}" x="{scale.left}" y="{top + 2}" width="{end - scale.left:.1f}"'
        f' height="12"/>'
        f'<line class="whisker" x1="{low}" x2="{high}" y1="{middle}" y2="{middle}"/>'
        f'<text x="{max(high, end) + 6:.1f}" y="{top + 12}">{number(bar.value.median)}</text>'
    )
