from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue

from penstock.inline.versions import InlineEngine
from penstock.jobs.definitions import definition_store
from penstock.project.following import Followed, Following
from tests.jobs.upgrades import Shop
from tests.project.projects import QUERIES, SHOP, Directory


@contextmanager
def followed(place: Path, home: Path) -> Iterator[Queue[Followed]]:
    """What is done while the files of a project are edited."""
    following = Following(place, home, engine=lambda: InlineEngine(home))
    assert following.apply().refusal is None
    stopping, seen = threading.Event(), Queue[Followed]()

    def follow() -> None:
        for item in following.follow(stopping):
            seen.put(item)

    thread = threading.Thread(target=follow)
    thread.start()
    # The files are watched from a moment on that nobody tells.
    time.sleep(0.3)
    try:
        yield seen
    finally:
        stopping.set()
        thread.join()


def test_an_edit_is_applied_within_two_seconds_and_a_mistake_is_told_with_its_line(
    project: Directory,
) -> None:
    project.write(shop_py=SHOP)
    Shop(project.home).sell(1, 20)
    with followed(project.place, project.home) as seen:
        begun = time.monotonic()
        project.write(more_py=SHOP.replace('"shop"', '"more"').replace('"totals"', '"others"'))
        first = seen.get(timeout=10)
        assert time.monotonic() - begun < 2
        assert (first.files, first.done) == (("more.py",), ('job "more" is created',))
        project.write(more_py="import penstock as ps\n\n1 / 0\n")
        second = seen.get(timeout=10)
        assert second.refusal is not None
        assert "ZeroDivisionError" in second.refusal.fact
        assert "line 3" in second.refusal.fact
        (project.place / "more.py").unlink()
        assert seen.get(timeout=10).done == ('job "more" is removed; its topics stay',)
    assert definition_store(project.home).names() == ("shop",)


def test_statements_are_followed_and_what_says_nothing_of_jobs_is_passed_over(
    project: Directory,
) -> None:
    project.write(queries_sql=QUERIES)
    with followed(project.place, project.home) as seen:
        project.write(notes_txt="nothing", test_shop_py="1 / 0")
        project.write(more_sql="CREATE TABLE wrong AS SELEC region FROM orders;")
        first = seen.get(timeout=10)
        assert first.files == ("more.sql",)
        assert first.refusal is not None
        assert "more.sql: line 1" in first.refusal.fact
        project.write(more_sql="CREATE STREAM big AS SELECT * FROM orders WHERE amount > 5;")
        assert "BIG" in seen.get(timeout=10).done[0]
        project.write(penstock_toml="[jobs.shop]\nbatch_rows = 10\n")
        assert seen.get(timeout=10).settings_changed
