"""Raw events and views of them: the events never change, views come and go.

python -m examples.raw_and_views

The writer knows one topic, `page_events`, and writes every detail of what happened. Views are made
from it: one that was deleted, or whose program was corrected, is made again; one that nobody
thought of at first is made from all of history. The writer is never asked.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pyarrow as pa

import penstock as ps

RAW = "page_events"
SCHEMA = pa.schema(
    [("visitor", pa.string()), ("page", pa.string()), ("referrer", pa.string()), ("ms", pa.int64())]
)
HISTORY = (
    ("ann", "/talks.html", "search", 120),
    ("bob", "/talks.html", "mail", 80),
    ("ann", "/index.html", "/talks.html", 40),
    ("cid", "/talks.html", "search", 300),
    ("bob", "/about.html", "/talks.html", 60),
)


def write(home: Path, events: Sequence[tuple[str, str, str, int]]) -> None:
    """The writer: appends what happened, and knows of no view."""
    with ps.open_log(home) as log:
        if RAW not in log.topics():
            log.create_topic(RAW, schema=SCHEMA)
        columns = [pa.array(column) for column in zip(*events, strict=True)]
        log.append(RAW, 0, pa.Table.from_arrays(columns, schema=SCHEMA))


def views_by_page() -> ps.App:
    """The first view: how often each page was seen."""
    app = ps.App("views_by_page")
    events = app.stream(RAW, schema=SCHEMA)
    events.group_by("page").agg(views=ps.count()).to("views_by_page")
    return app


def slow_pages() -> ps.App:
    """A view that came later: where visitors wait, by where they came from."""
    app = ps.App("slow_pages")
    events = app.stream(RAW, schema=SCHEMA)
    waits = events.group_by("page", "referrer").agg(longest=ps.max("ms"), views=ps.count())
    waits.to("slow_pages")
    return app


def make(home: Path, view: ps.App, *, rebuild: bool = False) -> None:
    """Make a view, or go on with it; a rebuild drops it and begins with the first event."""
    options = ps.InlineOptions(until="caught up", rebuild=rebuild)
    view.run_here(home=home, options=options)


def read(home: Path, topic: str, key: Sequence[str]) -> list[dict[str, object]]:
    """Give the rows of a view: the last one of each key."""
    with ps.open_log(home) as log, ps.Consumer(log, topic, start="earliest") as consumer:
        rows = [record.value for record in consumer.poll(timeout=0.2)]
    return pl.DataFrame(rows).unique(key, keep="last").sort(key).to_dicts()


def fingerprint(home: Path) -> str:
    """Give what the segments of the raw topic amount to, byte for byte."""
    segments = sorted((home / "log" / "topics" / RAW).rglob("*.seg"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in segments)).hexdigest()


def main() -> None:
    """Write, make a view, make it again, and make another from all of history."""
    with tempfile.TemporaryDirectory(prefix="penstock-views-") as folder:
        home = Path(folder)
        write(home, HISTORY)
        raw = fingerprint(home)
        make(home, views_by_page())
        first = read(home, "views_by_page", ["page"])
        for row in first:
            print(f"{row['page']:<12} seen {row['views']} times")
        make(home, views_by_page(), rebuild=True)
        print("deleted and made again, equal:", read(home, "views_by_page", ["page"]) == first)
        make(home, slow_pages())
        for row in read(home, "slow_pages", ["page", "referrer"]):
            print(f"{row['page']:<12} from {row['referrer']:<12} up to {row['longest']} ms")
        print("raw events unchanged:", fingerprint(home) == raw)


if __name__ == "__main__":
    main()
