"""`python -m examples.join_guide` draws the pictures of docs/joins.md, from programs that run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import penstock as ps
from examples.till import ORDERS, PAYMENTS, bar, rows, serve
from penstock.testing.driver import TestDriver

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "img"
WIDTH, LEFT, SECOND = 780, 110, 24
_NEAR = 2.6
"""Seconds that a label needs for itself."""
_STYLE = (
    "text{font:12px sans-serif;fill:#1f2937}.axis{stroke:#9ca3af}.lane{stroke:#e5e7eb}"
    ".pair{stroke:#16a34a;stroke-width:1.5}.span{fill:#dbeafe;stroke:#93c5fd}.alone{fill:#fde68a}"
    ".gone{fill:#fecaca}"
)


@dataclass(frozen=True, slots=True)
class Dot:
    """Something on a lane at a second: a row that came, or a result that was given."""

    lane: int
    second: float
    label: str
    style: str = ""


@dataclass(frozen=True, slots=True)
class Bar:
    """A stretch of a lane."""

    lane: int
    start: float
    end: float
    label: str = ""
    style: str = "span"


@dataclass(frozen=True, slots=True)
class Lanes:
    """Rows of several inputs along one time, what bounds them, and who met whom."""

    title: str
    names: Sequence[str]
    dots: Sequence[Dot]
    bars: Sequence[Bar] = ()
    lines: Sequence[tuple[Dot, Dot]] = ()

    def svg(self) -> str:
        """Draw it."""
        height = 70 + 60 * len(self.names)
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img"'
            f' aria-label="{escape(self.title)}"><style>{_STYLE}</style>',
            f'<text x="10" y="20" font-weight="bold">{escape(self.title)}</text>',
        ]
        for number, bar_ in enumerate(self.bars):
            x, y = _x(bar_.start), _y(bar_.lane) + 3 * (number % 4)
            wide = _x(bar_.end) - x
            parts.append(
                f'<rect class="{bar_.style}" x="{x:g}" y="{y - 22}" width="{wide:g}" height="34"'
                f' opacity="0.7"/><text x="{x + 3:g}" y="{y - 10}" font-size="10">'
                f"{escape(bar_.label)}</text>"
            )
        for lane, name in enumerate(self.names):
            y = _y(lane)
            parts.append(f'<line class="lane" x1="{LEFT}" x2="{WIDTH - 10}" y1="{y}" y2="{y}"/>')
            parts.append(f'<text x="10" y="{y + 4}">{escape(name)}</text>')
        for one, other in self.lines:
            parts.append(
                f'<line class="pair" x1="{_x(one.second):g}" y1="{_y(one.lane)}"'
                f' x2="{_x(other.second):g}" y2="{_y(other.lane)}"/>'
            )
        parts += _drawn(self.dots)
        parts += [_tick(second, height - 16) for second in range(0, 28, 4)]
        return "\n".join([*parts, "</svg>"])


def _x(second: float) -> float:
    return LEFT + 10 + second * SECOND


def _y(lane: int) -> int:
    return 60 + 60 * lane


def _drawn(dots: Sequence[Dot]) -> list[str]:
    """Draw dots; those at one place are one, with their labels below each other."""
    places: dict[tuple[int, float], list[Dot]] = {}
    for dot in sorted(dots, key=lambda item: item.second):
        places.setdefault((dot.lane, dot.second), []).append(dot)
    parts, last = [], dict.fromkeys((lane for lane, _ in places), (-10.0, False))
    for (lane, second), found in places.items():
        x, y = _x(second), _y(lane)
        before, was_above = last[lane]
        above = second - before < _NEAR and not was_above
        last[lane] = (second, above)
        colour = {"alone": "#d97706", "gone": "#dc2626"}.get(found[-1].style, "#2563eb")
        parts.append(f'<circle cx="{x:g}" cy="{y}" r="5" fill="{colour}"/>')
        for number, dot in enumerate(found):
            line = y - 8 - 11 * number if above else y + 16 + 11 * number
            parts.append(
                f'<text x="{x + 5:g}" y="{line}" font-size="10">{escape(dot.label)}</text>'
            )
    return parts


def _tick(second: int, y: int) -> str:
    return f'<text x="{_x(second):g}" y="{y}" font-size="10">{second} s</text>'


def one_window() -> ps.App:
    """Orders and payments of one window of ten seconds."""
    app, orders, payments = bar("one-window")
    orders.join(payments, on="guest", window=ps.tumbling("10s")).to("bills")
    return app


def two_windows() -> ps.App:
    """Payments at most two seconds before and eight after their order."""
    app, orders, payments = bar("two-windows")
    orders.join(payments, on="guest", within=("2s", "8s")).to("bills")
    return app


def alone(*, eager: bool) -> ps.App:
    """Every order and every payment, with its partner or without."""
    app, orders, payments = bar("eager" if eager else "final")
    orders.join(payments, on="guest", how="full", within=("2s", "8s"), eager=eager).to("bills")
    return app


def _inputs() -> tuple[list[Dot], list[Dot]]:
    return (
        [Dot(0, second, f"{guest} {what}") for guest, what, second in ORDERS],
        [Dot(1, second, f"{guest} {how}") for guest, how, second in PAYMENTS],
    )


def _met(driver: TestDriver) -> list[tuple[Dot, Dot]]:
    orders, payments = _inputs()
    lines = []
    for row in driver.rows("bills"):
        one = next(dot for dot in orders if dot.label == f"{row['guest']} {row['order']}")
        other = next(dot for dot in payments if dot.label == f"{row['guest']} {row['paid']}")
        lines.append((one, other))
    return lines


def draw_one_window() -> Lanes:
    """Boxes of the windows, and lines between those that met in one."""
    orders, payments = _inputs()
    bars = [
        Bar(lane, start, start + 10, f"window {start} to {start + 10}" if lane == 0 else "")
        for start in (0, 10)
        for lane in (0, 1)
    ]
    title = "One window: partners lie in the same ten seconds"
    lines = _met(serve(one_window()))
    return Lanes(title, ("orders", "payments"), [*orders, *payments], bars, lines)


def draw_two_windows() -> Lanes:
    """For each order the stretch in which its payment may lie."""
    orders, payments = _inputs()
    bars = [Bar(1, max(0, dot.second - 2), dot.second + 8) for dot in orders]
    title = "Two windows: payments 2 s before to 8 s after their order"
    lines = _met(serve(two_windows()))
    return Lanes(title, ("orders", "payments"), [*orders, *payments], bars, lines)


def draw_alone() -> Lanes:
    """When each result is given: eager ones at once, final ones when nobody can come."""
    orders, payments = _inputs()
    dots = [*orders, *payments, *_given(alone(eager=True), 2), *_given(alone(eager=False), 3)]
    names = ("orders", "payments", "eager", "final")
    return Lanes("Rows alone: eager is taken back, final waits", names, dots)


def _given(app: ps.App, lane: int) -> list[Dot]:
    driver = app.test(watermarks="manual")
    dots: list[Dot] = []

    def look(second: float) -> None:
        for row in driver.take("bills"):
            both = row["order"] is not None and row["paid"] is not None
            style = "gone" if row["_weight"] < 0 else "" if both else "alone"
            label = f"{'-' if row['_weight'] < 0 else ''}{row['order'] or row['paid']}"
            dots.append(Dot(lane, second, label, style))

    for topic, row in rows():
        driver.advance_watermark(row["at"])
        look(row["at"] / 1000)
        driver.push(topic, row)
        look(row["at"] / 1000)
    for second in range(22, 26):
        driver.advance_watermark(second * 1000)
        look(second)
    return dots


RATES = (("euro", 114, 0), ("euro", 119, 12), ("euro", 116, 6))
BUYS = (("euro", 2, 4), ("euro", 5, 10), ("euro", 3, 16))


def exchange(**how: Any) -> ps.App:  # noqa: ANN401
    """Purchases with the rate of their currency that was valid at their time."""
    app = ps.App("exchange")
    rate = {"currency": "string", "rate": "int64", "at": "int64"}
    buy = {"currency": "string", "amount": "int64", "at": "int64"}
    rates = app.table("rates", key="currency", schema=rate, order="event time", event_time="at")
    buys = app.stream("buys", schema=buy, event_time="at")
    buys.join(rates, on="currency", as_of="event time", **how).to("yen")
    rates.versions(keep="1 hour").changes().to("validity")
    return app


def trade(app: ps.App) -> TestDriver:
    """Give the rates, one of them late, and then the purchases."""
    driver = app.test(watermarks="manual")
    for currency, rate, second in RATES:
        driver.push("rates", {"currency": currency, "rate": rate, "at": second * 1000})
    for currency, amount, second in BUYS:
        driver.push("buys", {"currency": currency, "amount": amount, "at": second * 1000})
    driver.finish()
    return driver


def draw_versions() -> Lanes:
    """Each rate from when to when it is valid, and the purchases that meet it."""
    driver = trade(exchange(wait=True))
    buys = [Dot(1, second, f"buy {amount}") for _, amount, second in BUYS]
    bars, lines = [], []
    for row in driver.table("validity"):
        start = row["valid_from"].timestamp()
        end = 26 if row["valid_to"] is None else row["valid_to"].timestamp()
        bars.append(Bar(0, start, end - 0.1, f"rate {row['rate']}"))
    for row in driver.rows("yen"):
        buy = next(dot for dot in buys if dot.label == f"buy {row['amount']}")
        lines.append((Dot(0, buy.second, ""), buy))
    return Lanes("Versions: the rate valid at the time", ("rates", "purchases"), buys, bars, lines)


PICTURES: dict[str, Callable[[], Lanes]] = {
    "joins-one-window": draw_one_window,
    "joins-two-windows": draw_two_windows,
    "joins-alone": draw_alone,
    "joins-versions": draw_versions,
}


def draw(folder: Path) -> list[Path]:
    """Draw all pictures into a folder."""
    drawn = []
    for name, make in PICTURES.items():
        path = folder / f"{name}.svg"
        path.write_text(make().svg() + "\n", encoding="utf-8")
        drawn.append(path)
    return drawn


if __name__ == "__main__":
    for made in draw(IMAGES):
        print(made.name)
    sys.exit(0)
