"""Draws panes: event time to the right, processing time upwards, the watermark as a curve."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from penstock.serve.pages.job_charts import around, time_axis
from penstock.serve.pages.panes import TIMINGS, Pane, Timing, Watermarks
from penstock.serve.pages.theme import CHART_LINE
from penstock.sql.plain_value import plain

COLOURS: dict[Timing, str] = {
    "early": "#3f86b8",
    "on-time": "#2a9d63",
    "late": "#d9822b",
    "retracted": "#d6453c",
    "given": "#808b96",
}
WORDS: dict[Timing, str] = {
    "early": "Early: before the watermark reached the window's end",
    "on-time": "On time: the first after it did",
    "late": "Late: corrected by rows that came after",
    "retracted": "Retracted: taken back",
    "given": "Given: the watermark of then is not known",
}
NAMES: dict[Timing, str] = {
    "early": "Early",
    "on-time": "On time",
    "late": "Late",
    "retracted": "Retracted",
    "given": "Given",
}
_BOX = """(params, api) => {
  const from = api.coord([api.value(0), api.value(3)]);
  const to = api.coord([api.value(1), api.value(2)]);
  const view = params.coordSys;
  const left = Math.max(from[0], view.x), right = Math.min(to[0], view.x + view.width);
  const top = Math.max(to[1], view.y), bottom = Math.min(from[1], view.y + view.height);
  if (right <= left) return null;
  const style = api.style();
  const gone = api.value(4) === 1;
  const height = Math.max(bottom - top, 3);
  const edge = gone ? bottom - 5 : top;
  return { type: 'group', children: [
    { type: 'rect',
      shape: { x: left + 0.5, y: top, width: Math.max(right - left - 1, 2), height: height, r: 2 },
      style: { fill: style.fill, opacity: gone ? 0.06 : 0.16 } },
    { type: 'line', shape: { x1: left + 1, y1: edge, x2: right - 1, y2: edge },
      style: { stroke: style.fill, lineWidth: 2.5, lineDash: gone ? [4, 3] : null } },
    { type: 'text', style: { text: right - left > 34 && !gone ? api.value(5) : '',
      x: left + 6, y: top + 4,
      fill: style.fill, fontSize: 11, fontWeight: 600 } },
  ]};
}"""
WATERMARK = "#8b5cf6"
_MOST = 400


def window_options(panes: Sequence[Pane], marks: Watermarks) -> dict[str, Any]:
    """Draw the panes of one key; each box reaches down to the pane before it."""
    shown = list(panes)[-_MOST:]
    floor = min((pane.given_at for pane in shown), default=0)
    clocks = [pane.given_at for pane in shown]
    first = min((pane.start for pane in shown), default=0)
    last = max((pane.end for pane in shown), default=0)
    curve = [[mark, clock] for mark, clock in marks.curve if not shown or first <= mark <= last]
    clocks += [clock for _, clock in curve]
    span = max(clocks, default=1) - min(clocks, default=0)
    floor = min(clocks, default=floor) - max(span // 12, 1000)
    boxes: dict[Timing, list[dict[str, Any]]] = {timing: [] for timing in TIMINGS}
    below: dict[tuple[int, int], int] = {}
    for pane in shown:
        window = (pane.start, pane.end)
        bottom = below.get(window, floor)
        boxes[pane.timing].append(_box(pane, bottom))
        if pane.timing != "retracted":
            below[window] = pane.given_at
    upward = time_axis("Processing time")
    upward |= {"nameGap": 64, "min": floor, "splitLine": {"lineStyle": {"color": CHART_LINE}}}
    series = [_series(timing, boxes[timing]) for timing in TIMINGS]
    return around(
        legend={"show": False},
        grid={"left": 34, "right": 20, "top": 12, "bottom": 34, "containLabel": True},
        tooltip={"confine": True, "trigger": "item"},
        xAxis=time_axis("Event time"),
        yAxis=upward,
        dataZoom=[{"type": "inside", "filterMode": "none"}],
        series=[*series, _curve(curve)],
    )


def _box(pane: Pane, bottom: int) -> dict[str, Any]:
    label = next((str(plain(value)) for _, value in reversed(pane.values) if _counts(value)), "")
    return {
        "value": [
            pane.start,
            pane.end,
            pane.given_at,
            bottom,
            int(pane.timing == "retracted"),
            label,
        ],
        "tooltip": {"formatter": _words(pane)},
    }


def _counts(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _words(pane: Pane) -> str:
    lines = [
        f"<b>{NAMES[pane.timing]}</b> pane of {_safe(pane.key)}",
        f"window {_time(pane.start)} to {_time(pane.end)}",
        f"given at {_time(pane.given_at)}",
        *(f"{_safe(name)} = <b>{_safe(plain(value))}</b>" for name, value in pane.values),
    ]
    return "<br>".join(lines)


def _safe(value: object) -> str:
    # The chart's formatter knows braces as places of its own.
    text = str(value)[:200].replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace("{", "&#123;").replace("}", "&#125;").replace('"', "&quot;")


def _time(moment: int) -> str:
    try:
        return datetime.fromtimestamp(moment / 1000, UTC).strftime("%H:%M:%S")
    except (OverflowError, ValueError, OSError):
        return str(moment)


def _series(timing: Timing, data: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "type": "custom",
        "name": NAMES[timing],
        ":renderItem": _BOX,
        "itemStyle": {"color": COLOURS[timing]},
        "encode": {"x": [0, 1], "y": 2},
        "data": data,
        "clip": True,
    }


def _curve(points: list[list[int]]) -> dict[str, Any]:
    return {
        "type": "line",
        "name": "Watermark",
        "data": points,
        "showSymbol": False,
        "lineStyle": {"color": WATERMARK, "width": 2, "type": "dashed"},
        "itemStyle": {"color": WATERMARK},
        "z": 5,
        "tooltip": {"show": False},
    }
