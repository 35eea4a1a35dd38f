"""`make demo` as a user sees it: served at once, results from Spark, a kill, and going on."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from examples.demo_consumers import FAILURES, LIVE, archived_rows
from examples.demo_numbers import GROUPS, REGIONS, Counting, lag_of
from examples.demo_views import VIEWS
from penstock.log.open import open_log
from penstock.log.record import TopicPartition

ROOT = Path(__file__).resolve().parents[2]
PROJECT = ROOT / "examples" / "pageviews"

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(300)]


def copied(tmp_path: Path) -> tuple[Path, Path]:
    """The project where nobody else is, and its home."""
    project = tmp_path / "examples" / "pageviews"
    shutil.copytree(PROJECT, project)
    return project, tmp_path / ".penstock-demo"


@contextmanager
def demo(project: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The demo from the moment that its pages are served, and where."""
    command = [sys.executable, "-m", "examples.demo", "--project", str(project), "--port", "0"]
    with subprocess.Popen(
        [*command, *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PENSTOCK_HOME": str(project / "not-this-one")},
    ) as process:
        try:
            assert process.stdout is not None
            found = None
            for line in process.stdout:
                found = re.search(r"Open (http://\S+)", line)
                if found:
                    break
            assert found, process.stderr.read() if process.stderr else ""
            yield process, found[1]
        finally:
            if process.poll() is None:
                process.kill()


def eventually(what: Callable[[], bool], seconds: float = 90) -> None:
    until = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < until, "it did not come to that"
        time.sleep(0.3)


def rows(home: Path, topic: str) -> int:
    with open_log(home) as log:
        if topic not in log.topics():
            return 0
        return sum(bounds.end for bounds in log.snapshot([topic]).values())


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert "Traceback" not in out + err, out + err
    return process.returncode, out + err


def test_the_demo_is_served_at_once_gives_results_and_goes_on_after_a_kill(tmp_path: Path) -> None:
    project, home = copied(tmp_path)
    with demo(project) as (process, url):
        answer = httpx.get(f"{url}/api/v1/topics/{VIEWS}")
        assert answer.status_code == 200, answer.text
        before = rows(home, VIEWS)
        eventually(lambda: rows(home, VIEWS) > before, 5)
        eventually(lambda: rows(home, REGIONS) > 0)
        eventually(lambda: rows(home, f"{REGIONS}.dead") > 0)
        process.kill()
    with open_log(home) as log:
        assert set(GROUPS) <= set(log.groups())
        read = {group: log.committed(group) for group in GROUPS}
    given = rows(home, REGIONS)
    with demo(project) as (process, url):
        eventually(lambda: rows(home, REGIONS) > given)
        assert httpx.get(f"{url}/").status_code == 200
        status, told = ended(process)
    assert (status, "[" in told.partition("Stopped.")[2]) == (0, False), told
    check_what_is_left(home, read)


def check_what_is_left(home: Path, read: dict[str, dict[TopicPartition, int]]) -> None:
    """Four groups have done their work, each view once, and gone on after the kill."""
    with open_log(home) as log:
        for group, offsets in read.items():
            now = log.committed(group)
            assert all(now[place] >= offset for place, offset in offsets.items()), group
            assert lag_of(log, group) < 5_000
        archived = log.committed("archive")
    assert archived_rows(home) == sum(archived.values()), "each view is archived once"
    assert rows(home, LIVE) > 0
    assert rows(home, FAILURES) > 0
    counting = Counting(home)
    counting.look()
    counting.close()
    assert counting.numbers.alerts > 0
    subjects = [mail.read_text() for mail in (home / "outbox").glob("*.eml")]
    assert any("has had 1,000 views" in text for text in subjects)
    assert any("failing_pages" in text for text in subjects)
    assert counting.numbers.regions


def test_ctrl_c_while_spark_starts_ends_the_demo_in_peace(tmp_path: Path) -> None:
    project, home = copied(tmp_path)
    with demo(project, "--rate", "20") as (process, _):
        status, told = ended(process)
    assert (status, "Stopped." in told) == (0, True), told
    assert rows(home, VIEWS) > 0
