"""`python -m examples.guide` draws the pictures of docs/guide.md, from programs that run."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import penstock as ps
from examples.orders import picture, stream
from penstock.model.refine import Refinement

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "img"


def what() -> ps.App:
    """Give the sum of all orders, once at the end."""
    app = ps.App("what")
    stream(app).window(ps.global_window()).agg(total=ps.sum("euros")).to("sales")
    return app


def where() -> ps.App:
    """Give the sum of every two minutes."""
    app = ps.App("where")
    stream(app).window(ps.tumbling("2 minutes")).agg(total=ps.sum("euros")).to("sales")
    return app


def sessions() -> ps.App:
    """Give the sum of orders with no pause longer than a minute."""
    app = ps.App("sessions")
    stream(app).window(ps.session("1 minute")).agg(total=ps.sum("euros")).to("sales")
    return app


def when() -> ps.App:
    """Give early results every minute, one on time, and one with each late order."""
    app = ps.App("when")
    (
        stream(app)
        .window(ps.tumbling("2 minutes"))
        .trigger(ps.when_closed(early=ps.every("1 minute"), late=ps.each_row()))
        .refine(ps.accumulating(keep_late="1 hour"))
        .agg(total=ps.sum("euros"))
        .to("sales")
    )
    return app


def how(refinement: Refinement) -> ps.App:
    """Give the same panes, related as asked."""
    app = ps.App("how")
    (
        stream(app)
        .window(ps.tumbling("2 minutes"))
        .trigger(ps.when_closed(early=ps.every("1 minute"), late=ps.each_row()))
        .refine(refinement)
        .agg(total=ps.sum("euros"))
        .to("sales")
    )
    return app


PICTURES: dict[str, tuple[str, Callable[[], ps.App]]] = {
    "guide-what": ("What: one sum of everything, when the input ends", what),
    "guide-where": ("Where: two-minute windows, on time", where),
    "guide-sessions": ("Where: sessions with a gap of one minute", sessions),
    "guide-when": ("When: early every minute, on time, and with each late order", when),
    "guide-discarding": (
        "How: discarding, each pane by itself",
        lambda: how(ps.discarding(keep_late="1 hour")),
    ),
}


def draw(folder: Path) -> list[Path]:
    """Draw all pictures into a folder."""
    drawn = []
    for name, (title, make) in PICTURES.items():
        path = folder / f"{name}.svg"
        path.write_text(picture(make(), "sales", title).svg() + "\n", encoding="utf-8")
        drawn.append(path)
    return drawn


if __name__ == "__main__":
    for made in draw(IMAGES):
        print(made.name)
    sys.exit(0)
