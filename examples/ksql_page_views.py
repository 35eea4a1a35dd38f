"""KSQL's page views: six statements make one chain, from views to views by region and minute.

python -m examples.ksql_page_views

The statements are those of the demo, in `pageviews/pageviews.sql`. In a home of your own:

penstock topics create pageviews --partitions 1
penstock topics create users --partitions 1
penstock sql -f examples/pageviews/pageviews.sql
penstock sql run                                 # on Spark; with --here in this process
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import penstock as ps
from penstock.sql.answer import Listed
from penstock.sql.session import SqlSession

STATEMENTS = Path(__file__).with_name("pageviews") / "pageviews.sql"
BEGIN = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
USERS = (("User_1", "North", 31), ("User_2", "South", 58), ("User_3", "North", 44))
VIEWS = (
    (5, "User_1", "Page_1"),
    (20, "User_2", "Page_1"),
    (40, "User_1", "Page_2"),
    (50, "User_3", "Page_1"),
    (70, "User_1", "Page_1"),
    (55, "User_2", "Page_3"),
)
"""Second, user and page. The last one comes late and still counts for its minute."""


def begin(home: Path) -> None:
    """Make the two topics that the statements are about, with the users."""
    with ps.open_log(home) as log:
        for topic in ("pageviews", "users"):
            log.create_topic(topic, partitions=1)
        with ps.Producer(log) as producer:
            for user, region, age in USERS:
                row = {"userid": user, "regionid": region, "age": age, "gender": "OTHER"}
                producer.send("users", json.dumps(row).encode(), key=user.encode())


def view(home: Path, views: Sequence[tuple[int, str, str]]) -> None:
    """Let pages be viewed: a line for each, and its page is the key."""
    first = round(BEGIN.timestamp() * 1000)
    with ps.open_log(home) as log, ps.Producer(log) as producer:
        for second, user, page in views:
            line = f"{first + second * 1000},{user},{page}"
            producer.send("pageviews", line.encode(), key=page.encode())


def asked(session: SqlSession, question: str) -> Iterator[tuple[Any, ...]]:
    """Give the rows that answer a SELECT."""
    for answer in session.run(question):
        if isinstance(answer, Listed):
            yield from answer.rows


def run(home: Path) -> Iterator[str]:
    """Carry the statements out over the views, and give what comes of them as lines."""
    begin(home)
    with SqlSession(home, here=True) as session:
        for _ in session.run(STATEMENTS.read_text(encoding="utf-8")):
            pass
        session.catch_up()
        view(home, VIEWS)
        session.catch_up()
        question = "SELECT * FROM pageviews_per_region_per_minute;"
        for region, start, *_, views in sorted(asked(session, question)):
            minute = datetime.fromtimestamp(start / 1000, tz=UTC)
            yield f"{region:<6} {minute:%H:%M}  {views} views"
        ages = sorted(age for (age,) in asked(session, "SELECT age FROM visitors;"))
        yield f"ages of visitors: {ages}"


def main() -> None:
    """Print views by region and minute."""
    with tempfile.TemporaryDirectory(prefix="penstock-ksql-") as folder:
        for line in run(Path(folder)):
            print(line)


if __name__ == "__main__":
    main()
