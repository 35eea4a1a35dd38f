"""One server and one browser for all tests of pages; what a page does wrong fails its test."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from asyncio import _set_running_loop  # the browser's loop never ends
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.pages.filled_home import fill
from tests.pages.serving import served
from tests.pages.work_home import Work, work_home

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "img" / "pages"
WIDE, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
Opened: TypeAlias = Callable[..., Page]
LOOPS: list[asyncio.AbstractEventLoop] = []
"""The event loop of the browser."""


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A project whose home has something on every page, and a job at work."""
    if CHROMIUM is None:
        pytest.skip("needs chromium")
    place = tmp_path_factory.mktemp("project")
    fill(place)
    # In a process of its own: tests of other rooms count what is done in this one.
    command = [sys.executable, "-m", "tests.pages.filled_home", str(place / "shop")]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline(), "nobody is at work"
        yield place
        process.stdin.close()


@pytest.fixture(scope="session")
def server(project: Path) -> Iterator[str]:
    """The address of a server of that home."""
    with served(project / "shop", project, "--no-jobs") as url:
        yield url


@pytest.fixture(scope="session")
def work(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Work]:
    """A project with jobs, windows and a dashboard, whose job is at work in this process."""
    if CHROMIUM is None:
        pytest.skip("needs chromium")
    with work_home(tmp_path_factory.mktemp("work")) as found:
        yield found


@pytest.fixture(scope="session")
def work_server(work: Work) -> Iterator[str]:
    """The address of a server of that project."""
    with served(work.home, work.folder, "--no-jobs") as url:
        yield url


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A browser without a window."""
    if CHROMIUM is None:
        pytest.skip("needs chromium")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        LOOPS.append(asyncio.get_running_loop())
        # Between its tests nothing runs here, as tests of other rooms expect that begin a loop.
        _set_running_loop(None)
        yield found
        _set_running_loop(LOOPS.pop())
        found.close()


@pytest.fixture(autouse=True)
def loop_of_browser(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let the browser's event loop be the one that runs, for the length of a test."""
    if "browser" not in request.fixturenames:
        yield
        return
    request.getfixturevalue("browser")
    _set_running_loop(LOOPS[-1])
    yield
    _set_running_loop(None)


@pytest.fixture
def opened(server: str, browser: Browser) -> Iterator[Opened]:
    """Opens a page of the server; errors in the browser and requests to others fail the test."""
    wrong: list[str] = []
    contexts = []

    def open_page(path: str, *, phone: bool = False, dark: bool = False, url: str = "") -> Page:
        context = browser.new_context(
            viewport=PHONE if phone else WIDE,  # type: ignore[arg-type]
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce",
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        own = url or server
        page.on(
            "console",
            lambda said: wrong.append(said.text) if _is_wrong(said.type, said.text) else None,
        )
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on(
            "request",
            lambda asked: wrong.append(asked.url) if _is_foreign(asked.url, own) else None,
        )
        page.goto(own + path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not wrong


@pytest.fixture
def picture(tmp_path: Path) -> Callable[[Page, str], Path]:
    """Takes a picture; with UPDATE_SCREENSHOTS=1 the documentation's is written anew."""

    def take(page: Page, name: str) -> Path:
        page.wait_for_timeout(150)
        folder = PICTURES if os.environ.get("UPDATE_SCREENSHOTS") else tmp_path
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{name}.png"
        page.screenshot(path=path)
        return path

    return take


def _is_wrong(kind: str, text: str) -> bool:
    # A page that shows an error has its status; the browser says so of its own accord.
    return kind == "error" and "the server responded with a status of 4" not in text


def _is_foreign(url: str, own: str) -> bool:
    return not url.startswith((own, own.replace("http", "ws"), "data:", "blob:", "about:"))
