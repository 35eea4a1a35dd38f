"""Rows as a chart: lines over time, bars, or points on a map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from penstock.project.dashboard import Kind
from penstock.serve.pages.job_charts import around, time_axis, value_axis
from penstock.serve.pages.theme import CHART_LINE, CHART_TEXT, SERIES
from penstock.serve.pages.world_outline import OUTLINE

_MOST_BARS, _MOST_SERIES = 40, 12
_YEAR_2000, _YEAR_2100 = 946_684_800_000, 4_102_444_800_000
_LATITUDES = ("latitude", "lat")
_LONGITUDES = ("longitude", "lon", "lng", "long")


@dataclass(frozen=True, slots=True)
class Axes:
    """Which columns are drawn as what; empty where that is to be chosen by what is in them."""

    x: str = ""
    y: tuple[str, ...] = ()
    split: str = ""
    latitude: str = ""
    longitude: str = ""
    size: str = ""
    unit: str = ""


def chart_options(
    kind: Kind, columns: Sequence[str], rows: Sequence[Sequence[Any]], axes: Axes
) -> dict[str, Any]:
    """Draw rows."""
    table = Drawn(columns, rows, axes)
    if kind == "map":
        return table.map()
    return table.bars() if kind == "bar" else table.lines()


def number_of(columns: Sequence[str], rows: Sequence[Sequence[Any]], axes: Axes) -> str:
    """Give the number that rows are: the last row's first number, or that of a column."""
    if not rows:
        return "-"
    table = Drawn(columns, rows, axes)
    if not table.measures:
        return str(rows[-1][0]) if rows[-1] else "-"
    value = rows[-1][table.measures[0]]
    if value is None:
        return "-"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.2f}"


class Drawn:
    """A table, of which it is known which column is which."""

    def __init__(self, columns: Sequence[str], rows: Sequence[Sequence[Any]], axes: Axes) -> None:
        self._names = list(columns)
        self._rows = rows
        self._axes = axes
        self.x = self._place(axes.x)
        self.split = self._place(axes.split)
        numbers = [place for place in range(len(self._names)) if self._all(place, _is_number)]
        times = [place for place in range(len(self._names)) if self._all(place, _is_time)]
        if self.x is None:
            texts = [p for p in range(len(self._names)) if p not in numbers and p != self.split]
            chosen = times or texts or numbers[:1]
            self.x = chosen[0] if chosen else None
        asked = [place for name in axes.y if (place := self._place(name)) is not None]
        self.measures = asked or [
            place for place in numbers if place not in (self.x, self.split) and place not in times
        ]
        self.measures = self.measures or [p for p in numbers if p != self.split][-1:]

    def lines(self) -> dict[str, Any]:
        """Draw a line for each measure, or for each value of the column that splits."""
        timed = self.x is not None and self._all(self.x, _is_time)
        axis = time_axis() if timed else _names_axis([str(self._x(row)) for row in self._rows])
        options = around(xAxis=axis, yAxis=value_axis(self._axes.unit), series=[])
        del options["yAxis"]["min"]
        drawn = self._series(timed=timed)[:_MOST_SERIES]
        for name, data in drawn:
            options["series"].append(
                {
                    "type": "line",
                    "name": name,
                    "data": data,
                    "showSymbol": len(data) < 2,  # noqa: PLR2004  # one point is no line
                    "lineStyle": {"width": 2},
                    "areaStyle": {"opacity": 0.1 if len(drawn) == 1 else 0},
                }
            )
        return options

    def bars(self) -> dict[str, Any]:
        """Draw a bar for each row, the last of each name."""
        latest = {str(self._x(row)): row for row in self._rows}
        shown = dict(list(latest.items())[-_MOST_BARS:])
        options = around(
            xAxis=_names_axis(list(shown)), yAxis=value_axis(self._axes.unit), series=[]
        )
        for place in self.measures[:_MOST_SERIES]:
            options["series"].append(
                {
                    "type": "bar",
                    "name": self._names[place],
                    "data": [_number(row[place]) for row in shown.values()],
                    "barMaxWidth": 46,
                    "itemStyle": {"borderRadius": [4, 4, 0, 0]},
                }
            )
        return options

    def map(self) -> dict[str, Any]:
        """Draw points by latitude and longitude, on an outline of the world."""
        latitude = self._place(self._axes.latitude) or self._called(_LATITUDES)
        longitude = self._place(self._axes.longitude) or self._called(_LONGITUDES)
        size = self._place(self._axes.size)
        points = []
        if latitude is not None and longitude is not None:
            most = max((float(row[size] or 0) for row in self._rows), default=0) if size else 0
            for row in self._rows:
                if _is_number(row[latitude]) and _is_number(row[longitude]):
                    share = float(row[size] or 0) / most if size is not None and most else 0.25
                    points.append(
                        {
                            "value": [row[longitude], row[latitude]],
                            "name": self._label(row, (latitude, longitude)),
                            "symbolSize": 6 + 22 * share**0.5,
                        }
                    )
        return _map(points)

    def _label(self, row: Sequence[Any], without: tuple[int, int]) -> str:
        parts = [
            f"{n}: {v}"
            for p, (n, v) in enumerate(zip(self._names, row, strict=True))
            if p not in without
        ]
        return ", ".join(parts)

    def _series(self, *, timed: bool) -> list[tuple[str, list[Any]]]:
        if self.split is None:
            return [
                (self._names[place], [self._point(row, place, timed=timed) for row in self._rows])
                for place in self.measures
            ]
        found: dict[str, list[Any]] = {}
        for row in self._rows:
            for place in self.measures[:1]:
                point = self._point(row, place, timed=timed)
                found.setdefault(str(row[self.split]), []).append(point)
        return sorted(found.items())

    def _point(self, row: Sequence[Any], place: int, *, timed: bool) -> Any:  # noqa: ANN401
        value = _number(row[place])
        return [_moment(self._x(row)), value] if timed else [str(self._x(row)), value]

    def _x(self, row: Sequence[Any]) -> Any:  # noqa: ANN401  # a value of any type
        return "" if self.x is None else row[self.x]

    def _place(self, name: str) -> int | None:
        wanted = name.lower()
        return next((p for p, n in enumerate(self._names) if wanted and n.lower() == wanted), None)

    def _called(self, names: tuple[str, ...]) -> int | None:
        return next((p for p, n in enumerate(self._names) if n.lower() in names), None)

    def _all(self, place: int, fits: Any) -> bool:  # noqa: ANN401  # a predicate of any value
        values = [row[place] for row in self._rows if row[place] is not None]
        return bool(values) and all(map(fits, values))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(value: Any) -> Any:  # noqa: ANN401  # a value of any type
    # A chart evaluates what stands under some names, so that nothing but numbers goes there.
    return value if _is_number(value) else None


def _is_time(value: object) -> bool:
    if _is_number(value):
        return _YEAR_2000 <= value <= _YEAR_2100  # type: ignore[operator]
    if not isinstance(value, str) or len(value) < len("2026-01-31T12:00"):
        return False
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def _moment(value: Any) -> Any:  # noqa: ANN401  # a time as a number or a text
    if isinstance(value, str) and not value.endswith("Z") and "+" not in value[10:]:
        # All times are in UTC, and a browser would take one without a zone for its own.
        return f"{value.replace(' ', 'T')}Z"
    return value


def _names_axis(names: list[str]) -> dict[str, Any]:
    return {
        "type": "category",
        "data": list(dict.fromkeys(names)),
        "axisLabel": {"color": CHART_TEXT, "hideOverlap": True},
        "axisLine": {"lineStyle": {"color": CHART_LINE}},
        "axisTick": {"show": False},
    }


def _map(points: list[dict[str, Any]]) -> dict[str, Any]:
    def axis(reach: int) -> dict[str, Any]:
        return {
            "type": "value",
            "min": -reach,
            "max": reach,
            "interval": 30,
            "axisLabel": {"show": False},
            "axisTick": {"show": False},
            "axisLine": {"show": False},
            "splitLine": {"lineStyle": {"color": CHART_LINE, "opacity": 0.5}},
        }

    coast = [
        {
            "type": "line",
            "data": shape,
            "silent": True,
            "showSymbol": False,
            "lineStyle": {"color": CHART_TEXT, "width": 1, "opacity": 0.7},
            "tooltip": {"show": False},
        }
        for shape in OUTLINE
    ]
    dots = {
        "type": "scatter",
        "name": "points",
        "data": points,
        "itemStyle": {"color": SERIES[0], "opacity": 0.75},
        "z": 5,
        "tooltip": {"formatter": "{b}"},
    }
    return around(
        legend={"show": False},
        tooltip={"trigger": "item", "confine": True},
        grid={"left": 4, "right": 4, "top": 4, "bottom": 4},
        xAxis=axis(180),
        yAxis=axis(90),
        series=[*coast, dots],
    )
