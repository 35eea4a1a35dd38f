"""H19, H20, J23: history corrects what a program has done wrong, and a new program replays it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import penstock as ps
from penstock.inline.run import InlineOptions
from tests.requirements.events import COLUMNS, Row, event
from tests.requirements.homes import publish, records, stored

EVENTS = [event(1, 1), event(2, 2), event(3, 10, "b"), event(4, 0, "b"), event(5, 4)]


def doubled(row: Row) -> Row:
    return {**row, "v": 2 * row["v"]}


def as_it_is(row: Row) -> Row:
    if row["v"] == 0:
        message = "nothing was paid"
        raise ValueError(message)
    return row


def totals(code: Callable[[Row], Row], topic: str) -> ps.App:
    app = ps.App("totals")
    events = app.stream("events", schema=COLUMNS, event_time="at", max_ahead=None)
    paid = events.map(code, schema=COLUMNS)
    paid.group_by("k").agg(total=ps.sum("v")).to(topic, dead="parked")
    return app


def run(app: ps.App, home: Path, folder: str, *, rebuild: bool = False) -> None:
    options = InlineOptions(until="caught up", guarantee="exactly-once", rebuild=rebuild)
    app.run_here(home=home, checkpoint=home / folder, options=options)


def view(home: Path, topic: str) -> dict[str, int]:
    """The last total of each key, as a reader of the topic has it."""
    return {row["k"]: row["total"] for row in stored(home, topic)}


def test_a_bug_is_fixed_and_the_view_is_made_again(tmp_path: Path) -> None:
    publish(tmp_path, EVENTS)
    history = records(tmp_path, "events")
    run(totals(doubled, "out"), tmp_path, "job")
    assert view(tmp_path, "out") == {"a": 14, "b": 20}
    run(totals(as_it_is, "out"), tmp_path, "job", rebuild=True)
    assert view(tmp_path, "out") == {"a": 7, "b": 10}
    # What cannot be computed is parked, and what was computed from is as it was.
    (letter,) = stored(tmp_path, "parked")
    assert "nothing was paid" in letter["error"]
    assert records(tmp_path, "events") == history


def test_new_code_makes_a_second_view_from_the_first_record_before_readers_switch(
    tmp_path: Path,
) -> None:
    publish(tmp_path, EVENTS)
    run(totals(doubled, "out"), tmp_path, "first")
    run(totals(as_it_is, "out-2"), tmp_path, "second")
    # Until they switch readers have the first view, whole.
    assert view(tmp_path, "out") == {"a": 14, "b": 20}
    assert view(tmp_path, "out-2") == {"a": 7, "b": 10}
    publish(tmp_path, [event(6, 5)])
    run(totals(as_it_is, "out-2"), tmp_path, "second")
    assert view(tmp_path, "out-2") == {"a": 12, "b": 10}
    assert view(tmp_path, "out") == {"a": 14, "b": 20}
