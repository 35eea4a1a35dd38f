"""The pages on the server are read while one runs, and what they say is done."""

from __future__ import annotations

import asyncio
import io
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from penstock.project.dashboard_files import dashboard_files
from penstock.serve.opened import opened_platform
from penstock.serve.platform import Platform
from tests.cli.shell import Cli, start
from tests.docs.pages import DOCS
from tests.docs.reader import BLOCK, Reader

PRINTED = "http://127.0.0.1:8080"
STATEMENTS = """
CREATE STREAM clicks (page STRING) WITH (KAFKA_TOPIC='clicks', VALUE_FORMAT='JSON', PARTITIONS=1);
"""
SHOP = """
import penstock as ps

app = ps.App("shop")
app.stream("views", format="json", schema={"page": "string"}).to("seen")
"""


@contextmanager
def serving() -> Iterator[str]:
    """`penstock serve` on a port of its own, without Spark, and its address."""
    with start("serve", "--port", "0", "--no-jobs") as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().strip()
        finally:
            server.kill()


def blocks(page: str, kind: str) -> list[str]:
    found = BLOCK.findall((DOCS / page).read_text(encoding="utf-8"))
    return [block for named, block in found if named == kind]


@pytest.mark.slow
def test_what_the_pages_on_the_server_say_is_done(
    working_directory: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cli = Cli(capsys, monkeypatch)
    cli.ok("sql", "-e", STATEMENTS)
    cli.ok("produce", "clicks", stdin=b'{"page": "home"}\n')
    columns = "viewed_at timestamp, region string"
    cli.ok("topics", "create", "page_views", "--schema", columns)
    cli.ok("produce", "page_views", stdin=b'{"viewed_at": "2026-03-02", "region": "north"}\n')
    cli.ok("topics", "create", "views")
    cli.ok("produce", "views", "--key-separator", ":", stdin=b'ann:{"page": "home"}\n')
    Path("shop.py").write_text(SHOP)
    cli.ok("jobs", "submit", "shop.py")
    with serving() as url:
        assert url.startswith("http://127.0.0.1:")
        reader = Reader(cli, swaps={PRINTED: url, "https://platform.example.org:8080": url})
        reader.reads("http-api.md", begin="## The command line at a server")
        reader.reads("server.md", begin="## What is where", end="## TLS")
        # Servers over TLS have tests of their own: tests/serve/test_tls.py.
        reader.reads("server.md", begin="## The log from elsewhere")
        check_live(url)
        check_dashboard(url)
    for page in ("server.md", "pages.md"):
        assert blocks(page, "console")[0].startswith(f"$ penstock serve\nstarting\n{PRINTED}\n")


def heard(url: str, word: str) -> str:
    """Follow what never ends until a word comes."""
    words = ["curl", "-sN", "--max-time", "60", url]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = ""
        for line in process.stdout:
            said += line
            if word in line:
                break
        process.kill()
    assert word in said, said
    return said


def check_live(url: str) -> None:
    """What live.md shows comes, but for the time and the ids of events."""
    (shown,) = blocks("live.md", "console")
    command, _, lines = shown.partition("\n")
    (address,) = re.findall(r"'(http://\S+)'", command)
    (program,) = blocks("live.md", "js")
    assert f'EventSource("{address.removeprefix(PRINTED)}")' in program
    assert plain(heard(address.replace(PRINTED, url), "home")) == plain(lines)
    names: dict[str, object] = {}
    (code,) = blocks("live.md", "python")
    exec(compile(code, "live.md", "exec"), names)
    with opened_platform(Path(".penstock")) as platform:
        assert "home" in asyncio.run(printed(names["follow"], platform))


async def printed(follow: Any, platform: Platform) -> str:  # noqa: ANN401  # the page's function
    """Give what a function that never ends prints first."""
    output = io.StringIO()
    with redirect_stdout(output):
        task = asyncio.create_task(follow(platform))
        while not output.getvalue() and not task.done():
            await asyncio.sleep(0.02)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    return output.getvalue()


def plain(events: str) -> str:
    return re.sub(r"(?<=id: )\S+|(?<=timestamp\":)\d+", "", events.strip())


def check_dashboard(url: str) -> None:
    """The file that dashboards.md shows is one, and its panels are answered."""
    (text,) = blocks("dashboards.md", "toml")
    Path("dashboards").mkdir()
    Path("dashboards/views.toml").write_text(text)
    by_minute, live = dashboard_files(Path(".penstock"), Path()).get("views").panels
    with opened_platform(Path(".penstock")) as platform:
        (row,) = platform.tables.query(by_minute.query, limit=100).rows
    assert row[1:] == ("north", 1)
    heard(f"{url}/api/v1/live/query?from=beginning&sql={quote(live.query)}", "home")
