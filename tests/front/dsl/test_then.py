"""History, then live: every event once, whatever lies at the seam."""

from __future__ import annotations

import random

import pytest

import penstock as ps

EVENT = {"id": "int64", "at": "int64"}


def a_history() -> ps.App:
    app = ps.App("seam")
    old = app.stream("archive", schema=EVENT, event_time="at", lateness="10s")
    live = app.stream("live", schema=EVENT, event_time="at", lateness="10s")
    whole = old.then(live, key="id", overlap="1 minute")
    whole.to("events")
    whole.window(ps.tumbling("10s")).count().to("counts")
    return app


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("ends", "begins"), [(18, 12), (18, 18), (15, 18)])
def test_every_event_comes_once_with_an_overlap_without_one_and_with_a_gap(
    ends: int, begins: int, seed: int
) -> None:
    chance = random.Random(seed)
    events = [{"id": n, "at": n * 1000} for n in range(30)]
    streams = {"archive": events[:ends], "live": events[begins:]}
    driver = a_history().test(watermarks="manual")
    waiting = [(topic, event) for topic, found in streams.items() for event in found]
    # Either stream may be ahead; each keeps its own order.
    order = chance.sample([topic for topic, _ in waiting], k=len(waiting))
    queues = {topic: list(found) for topic, found in streams.items()}
    for topic in order:
        driver.push(topic, queues[topic].pop(0))
    driver.finish()
    wanted = [*range(ends), *range(max(ends, begins), 30)]
    assert sorted(row["id"] for row in driver.rows("events")) == wanted
    assert sum(row["count"] for row in driver.rows("counts")) == len(wanted)
    assert driver.late("events") == []
