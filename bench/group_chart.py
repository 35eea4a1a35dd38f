"""Bars of several kinds side by side, a group for each thing, by powers of ten, as SVG."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

_COLOURS = (
    *("#2f7d6b", "#c0562f", "#5b7fa6", "#d9ad5b", "#a58bc9"),
    *("#888888", "#3f3f3f", "#c9c9c9", "#d46a9f"),
)
_BAR = 7
_GAP = 10
_LEFT = 84
_TOP = 64
_HEIGHT = 260
_STYLE = "text{font:12px system-ui,sans-serif;fill:#222}.head{font-weight:600}"


@dataclass(frozen=True, slots=True)
class Group:
    """One thing, and its value for each kind that has one."""

    label: str
    values: Mapping[str, float]


def draw_groups(title: str, groups: list[Group], kinds: tuple[str, ...]) -> str:
    """Give the SVG of a chart with one group of bars for each thing, and a colour for each kind."""
    values = [value for group in groups for value in group.values.values() if value > 0]
    low = floor(log10(min(values)))
    high = max(ceil(log10(max(values))), low + 1)
    step = _BAR * len(kinds) + _GAP
    width, height = max(_LEFT + step * len(groups) + 20, 640), _TOP + _HEIGHT + 34
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">',
        f"<style>{_STYLE}</style>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        f'<text class="head" x="12" y="22">{escape(title)}</text>',
        *_legend(kinds),
        *(_line(power, low, high, width) for power in range(low, high + 1)),
    ]
    for place, group in enumerate(groups):
        parts += _bars(group, kinds, _LEFT + step * place + _GAP // 2, (low, high))
    return "\n".join([*parts, "</svg>", ""])


def _legend(kinds: tuple[str, ...]) -> list[str]:
    parts, x = [], 12
    for place, kind in enumerate(kinds):
        parts.append(f'<rect x="{x}" y="34" width="10" height="10" fill="{_colour(place)}"/>')
        parts.append(f'<text x="{x + 14}" y="43">{escape(kind)}</text>')
        x += 34 + 7 * len(kind)
    return parts


def _line(power: int, low: int, high: int, width: int) -> str:
    y = _y(10.0**power, (low, high))
    label = f"{10**power:,}" if power >= 0 else f"{10.0**power:g}"
    return (
        f'<line x1="{_LEFT}" x2="{width - 12}" y1="{y}" y2="{y}" stroke="#ddd"/>'
        f'<text x="{_LEFT - 6}" y="{y + 4}" text-anchor="end">{label}</text>'
    )


def _bars(group: Group, kinds: tuple[str, ...], x: int, powers: tuple[int, int]) -> list[str]:
    bottom = _TOP + _HEIGHT
    parts = [
        f'<rect x="{x + _BAR * place}" y="{(y := _y(group.values[kind], powers))}"'
        f' width="{_BAR - 1}" height="{bottom - y:.1f}" fill="{_colour(place)}"/>'
        for place, kind in enumerate(kinds)
        if group.values.get(kind, 0) > 0
    ]
    middle = x + _BAR * len(kinds) / 2
    label = f'<text x="{middle}" y="{bottom + 18}" text-anchor="middle">'
    return [*parts, f"{label}{escape(group.label)}</text>"]


def _y(value: float, powers: tuple[int, int]) -> float:
    low, high = powers
    return round(_TOP + _HEIGHT * (1 - (log10(value) - low) / (high - low)), 1)


def _colour(place: int) -> str:
    return _COLOURS[place % len(_COLOURS)]
