"""Programs in real-time mode, all at once: `python -m tests.spark.realtime.job`.

They run until the input of this process ends, and then say how they fared.
"""

from __future__ import annotations

import sys

import penstock as ps
from penstock.front.dsl.stream import Stream
from penstock.model.physical import Settings
from penstock.spark.query import ProgramQuery


def programs(topic: str) -> dict[str, ps.App]:
    """Give three programs that read a topic: without state, with windows, without copies."""
    found = {name: ps.App(name) for name in ("stateless", "windowed", "dedup")}
    rows = {name: events(app, topic) for name, app in found.items()}
    kept = rows["stateless"].filter(ps.col("n") % 2 == 0)
    kept.select("user", "sent", double=ps.col("n") * 2).to(f"{topic}-stateless")
    grouped = rows["windowed"].group_by("user").window(ps.tumbling("10s"))
    early = grouped.trigger(ps.when_closed(early=ps.each_row()))
    early.agg(n=ps.count(), total=ps.sum("n"), sent=ps.max("sent")).to(f"{topic}-windowed")
    rows["dedup"].dedup("n").select("n", "sent").to(f"{topic}-dedup")
    return found


def events(app: ps.App, topic: str) -> Stream:
    columns = {"user": "string", "n": "bigint", "sent": "bigint", "at": "timestamp"}
    return app.stream(topic, schema=columns, format="json", event_time="at", lateness="5s")


def main() -> None:
    how = ps.JobSettings(latency="realtime", guarantee="at-least-once")
    queries: dict[str, ProgramQuery] = {
        name: app.start(settings=Settings(parallelism=1), how=how)
        for name, app in programs(sys.argv[1]).items()
    }
    sys.stdout.write("started\n")
    sys.stdout.flush()
    sys.stdin.read()
    for name, query in queries.items():
        sys.stdout.write(f"{name} {query.status} {query.error}\n")
        query.stop()


if __name__ == "__main__":
    main()
