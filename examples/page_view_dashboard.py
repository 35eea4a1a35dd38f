"""A page-view dashboard in the manner of Google Analytics: which pages, viewed by which visitors.

python -m examples.page_view_dashboard              # a few events, and the tables they make
python -m examples.page_view_dashboard my-site      # a project with them, to be served

A project of your own then shows the dashboard of `page_view_dashboard.toml` in the browser:

cd my-site && penstock serve
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import penstock as ps

EVENT = {
    "event_type": str,
    "timestamp": int,
    "ip_address": str,
    "session_id": str,
    "page_url": str,
    "referrer": str,
    "browser": str,
}
TOPIC = "page_view_events"
DASHBOARD = Path(__file__).with_suffix(".toml")

app = ps.App("page_view_dashboard")
views = (
    app.stream(TOPIC, schema=EVENT, format="json", event_time="timestamp", lateness="10s")
    .filter(ps.col("event_type") == "PageViewEvent")
    .select(visitor=ps.col("ip_address"), page=ps.col("page_url"), seen=ps.col("timestamp"))
)
by_page = views.group_by("page").agg(views=ps.count(), visitors=ps.count_distinct("visitor"))
by_page.to_table("page").to("views_by_page")
by_visitor = views.group_by("visitor", "page").agg(views=ps.count(), last_seen=ps.max("seen"))
by_visitor.to_table(("visitor", "page")).to("pages_by_visitor")
views.window(ps.tumbling("1 minute")).agg(views=ps.count()).to("views_by_minute")

BEGIN = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
VISITS = (
    (0, "10.0.0.7", "/talks.html", "search"),
    (8, "10.0.0.9", "/talks.html", "mail"),
    (15, "10.0.0.7", "/index.html", "/talks.html"),
    (64, "10.0.0.7", "/talks.html", "/index.html"),
    (70, "10.0.0.4", "/about.html", "search"),
)


def events() -> list[dict[str, Any]]:
    """Give a few visits as the web server tells them."""
    first = round(BEGIN.timestamp() * 1000)
    return [
        {
            "event_type": "PageViewEvent",
            "timestamp": first + second * 1000,
            "ip_address": visitor,
            "session_id": f"session-{visitor}",
            "page_url": page,
            "referrer": referrer,
            "browser": "Chrome 39",
        }
        for second, visitor, page, referrer in VISITS
    ]


def tables(given: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Give the tables that events make."""
    driver = app.test()
    driver.push(TOPIC, [json.dumps(event).encode() for event in given])
    driver.finish()
    return {topic: driver.table(topic) for topic in driver.topics}


def make_project(folder: Path) -> None:
    """Make a project with the program, the dashboard and the events, ready to be served."""
    (folder / "dashboards").mkdir(parents=True, exist_ok=True)
    shutil.copy(DASHBOARD, folder / "dashboards" / "page_views.toml")
    (folder / "penstock.toml").write_text('home = ".penstock"\n', encoding="utf-8")
    home = folder / ".penstock"
    with ps.open_log(home) as log:
        if TOPIC not in log.topics():
            log.create_topic(TOPIC, partitions=1)
        with ps.Producer(log) as producer:
            for event in events():
                producer.send(TOPIC, json.dumps(event).encode(), key=event["ip_address"].encode())
    app.run_here(home=home, options=ps.InlineOptions(until="caught up"))


def main() -> None:
    """Print the tables, or make a project."""
    if sys.argv[1:]:
        make_project(Path(sys.argv[1]))
        print(f"Now: cd {sys.argv[1]} && penstock serve, and look at Dashboards.")
        return
    made = tables(events())
    for row in sorted(made["views_by_page"], key=lambda row: -row["views"]):
        print(f"{row['page']:<12} {row['views']} views by {row['visitors']} visitors")
    for row in sorted(made["pages_by_visitor"], key=lambda row: (row["visitor"], row["page"])):
        print(f"{row['visitor']:<10} viewed {row['page']:<12} {row['views']} times")


if __name__ == "__main__":
    main()
