"""Events that the checks of the requirements are written with, and short ways to read results."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import penstock as ps
from penstock.front.dsl.stream import Results, Stream
from penstock.model.refine import Refinement
from penstock.model.trigger import Trigger
from penstock.model.window import Window
from penstock.testing.driver import TestDriver

Row = dict[str, Any]
COLUMNS = {"k": str, "v": int, "at": "timestamp"}
SECOND = 1000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE


def event(second: float, v: int = 1, k: str = "a") -> Row:
    """An event that happened some seconds after midnight of the first day."""
    return {"k": k, "v": v, "at": datetime.fromtimestamp(second, UTC)}


def events(*seconds: float) -> list[Row]:
    return [event(second, number) for number, second in enumerate(seconds, 1)]


def disordered(rows: Sequence[Row], seed: int) -> list[Row]:
    found = list(rows)
    random.Random(seed).shuffle(found)
    return found


def program(describe: Callable[[Stream], Stream], **source: Any) -> ps.App:  # noqa: ANN401
    """A program with one source of events, `events`, and one result, `out`."""
    app = ps.App("check")
    settings = {"event_time": "at", **source}
    describe(app.stream("events", schema=COLUMNS, **settings)).to("out")
    return app


def driver(describe: Callable[[Stream], Stream], **source: Any) -> TestDriver:  # noqa: ANN401
    """A program whose watermark moves with its rows."""
    return program(describe, **source).test()


def guided(describe: Callable[[Stream], Stream], **source: Any) -> TestDriver:  # noqa: ANN401
    """A program whose watermark moves only when it is told to."""
    return program(describe, **source).test(watermarks="manual")


def window_sums(window: Window, **words: Trigger | Refinement) -> Callable[[Stream], Results]:
    """The sum of the values of each key and window."""

    def describe(stream: Stream) -> Results:
        grouped = stream.group_by("k").window(window)
        for word, value in words.items():
            grouped = getattr(grouped, word)(value)
        return grouped.agg(total=ps.sum("v"))

    return describe


def window_values(window: Window) -> Callable[[Stream], Results]:
    """The values of each key and window, in order of arrival."""
    return lambda stream: stream.group_by("k").window(window).agg(values=ps.collect_list("v"))


def spans(rows: Iterable[Row], column: str = "total") -> list[tuple[float, float, Any]]:
    """What each result says, with the seconds at which its window begins and ends."""
    return [
        (row["window_start"].timestamp(), row["window_end"].timestamp(), row[column])
        for row in rows
    ]


def values(rows: Iterable[Row], column: str = "total") -> list[Any]:
    return [row[column] for row in rows]


def visit_rows(count: int, seed: int = 3) -> list[Row]:
    """Visits of pages with browsers, from somewhere, during a few hours."""
    chance = random.Random(seed)
    return [
        {
            "page": f"/{chance.randrange(4)}",
            "browser": chance.choice(["firefox", "safari", None]),
            "referrer": chance.choice(["search", "mail"]),
            "at": datetime.fromtimestamp(chance.randrange(4 * 3600), UTC),
        }
        for _ in range(count)
    ]


def rolled_up(visits: Iterable[Row], group: Sequence[str]) -> dict[tuple[Any, ...], int]:
    """How many visits there were in each group; `hour` is the one a visit began in."""
    found: Counter[tuple[Any, ...]] = Counter()
    for visit in visits:
        row = {**visit, "hour": visit["at"].replace(minute=0, second=0)}
        found[tuple(row[name] for name in group)] += 1
    return dict(found)
