"""The charts of a job: batches over time, and event time against the clock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.model.progress import Instant, Progress
from penstock.serve.pages.theme import CHART_LINE, CHART_TEXT, SERIES


def time_axis(name: str = "") -> dict[str, Any]:
    """Give an axis of time."""
    return {
        "type": "time",
        "name": name,
        "nameLocation": "middle",
        "nameGap": 28,
        "axisLabel": {"color": CHART_TEXT, "hideOverlap": True},
        "nameTextStyle": {"color": CHART_TEXT},
        "axisLine": {"lineStyle": {"color": CHART_LINE}},
        "splitLine": {"show": False},
    }


def value_axis(name: str = "", *, right: bool = False) -> dict[str, Any]:
    """Give an axis of numbers."""
    return {
        "type": "value",
        "name": name,
        "min": 0,
        "position": "right" if right else "left",
        "axisLabel": {"color": CHART_TEXT},
        "nameTextStyle": {"color": CHART_TEXT, "align": "right" if right else "left"},
        "splitLine": {"show": not right, "lineStyle": {"color": CHART_LINE}},
    }


def around(**more: object) -> dict[str, Any]:
    """Give what all charts have in common."""
    return {
        "animation": False,
        "color": list(SERIES),
        "grid": {"left": 8, "right": 12, "top": 54, "bottom": 8, "containLabel": True},
        "legend": {
            "type": "scroll",
            "top": 0,
            "left": 0,
            "itemWidth": 14,
            "itemHeight": 10,
            "textStyle": {"color": CHART_TEXT},
            "icon": "roundRect",
        },
        "tooltip": {"trigger": "axis", "confine": True},
        "aria": {"enabled": True},
        **more,
    }


def batch_options(progress: Progress | None) -> dict[str, Any]:
    """Draw how many rows each of the latest batches read, and how long it took."""
    batches = () if progress is None else progress.history
    rates = [[batch.clock, round(_rate(batch), 1)] for batch in batches if batch.milliseconds]
    millis = [[batch.clock, batch.milliseconds] for batch in batches if batch.milliseconds]
    return around(
        xAxis=time_axis(),
        yAxis=[value_axis("rows/s"), value_axis("ms", right=True)],
        series=[
            _line("Rows a second", rates, areaStyle={"opacity": 0.12}),
            _line("Time of a batch", millis, yAxisIndex=1),
        ],
    )


def watermark_options(progress: Progress | None) -> dict[str, Any]:
    """Draw how far the watermark lay behind the clock after each of the latest batches."""
    batches = () if progress is None else progress.history
    behind = [
        [batch.clock, round((batch.clock - batch.watermark) / 1000, 1)]
        for batch in batches
        if batch.watermark > 0
    ]
    return around(
        xAxis=time_axis(),
        yAxis=[value_axis("s behind the clock")],
        series=[_line("Watermark", behind, areaStyle={"opacity": 0.12})],
    )


def _rate(batch: Instant) -> float:
    return 1000 * batch.rows / batch.milliseconds


def _line(name: str, data: Sequence[Sequence[float]], **more: object) -> dict[str, Any]:
    return {
        "type": "line",
        "name": name,
        "data": data,
        "showSymbol": len(data) == 1,
        "lineStyle": {"width": 2},
        **more,
    }
