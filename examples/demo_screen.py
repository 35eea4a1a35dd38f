"""What the demo says: a live table in a terminal, plain lines elsewhere, and a last word."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from examples.demo_numbers import GROUPS, Counting, Numbers
from examples.demo_platform import Demo, Told

_FOLLOW = "SELECT * FROM pageviews_per_region_per_minute EMIT CHANGES;"
_LINE_SECONDS = 2.0
_LOOK_SECONDS = 1.0
_EFFECTS = {
    "archive": "keeps every view in files",
    "live-count": "counts views by page, for the dashboard",
    "failing-pages": "counts failures: the alert is on that",
    "mail": "writes to authors, into the outbox",
}


@contextmanager
def shown(demo: Demo, counting: Counting) -> Iterator[None]:
    """Show what happens while the block runs."""
    console = Console()
    over = threading.Event()
    looking = threading.Thread(target=_look, args=(counting, over), daemon=True)
    looking.start()
    try:
        if console.is_terminal:
            picture = lambda: _picture(demo.told, counting.numbers, demo.project)  # noqa: E731
            with Live(console=console, get_renderable=picture, refresh_per_second=2):
                yield
        else:
            with _lines(console, demo.told, counting.numbers):
                yield
    finally:
        over.set()
        looking.join()


def greet(demo: Demo) -> None:
    """Say where to look, and what to try."""
    say(f"Open {demo.told.url} (served after {demo.told.served_after or 0:.1f} s)")
    for hint in hints(demo.project):
        say(f"  {hint}")


def conclude(demo: Demo, numbers: Numbers, *, interrupted: bool) -> int:
    """Say what came of it and where it lies; give the exit code."""
    if demo.told.failure is not None:
        say(str(demo.told.failure))
        return 1
    if interrupted:
        say("Stopped.")
    say(_line(demo.told, numbers))
    say(f"All of it is kept in {os.path.relpath(demo.home, os.environ.get('PWD', '.'))}:")
    say("  make demo          goes on from here")
    say("  make demo FRESH=1  begins anew")
    return 0


def hints(project: Path) -> tuple[str, ...]:
    """Give what to try next, as commands for a second terminal."""
    folder = os.path.relpath(project, os.environ.get("PWD", "."))
    program = _program(project)
    return (
        f"in a second terminal: cd {folder}",
        f"{program} sql -e '{_FOLLOW}'",
        f"{program} dlq show views_by_region.dead --max 3",
        f"{program} jobs list",
    )


def say(words: str) -> None:
    """Print a line as it is."""
    Console().print(words, highlight=False, markup=False, soft_wrap=True)


def _program(project: Path) -> str:
    """How the reader can call Penstock there: by name where it is on the path."""
    if shutil.which("penstock"):
        return "penstock"
    return os.path.relpath(Path(sys.executable).with_name("penstock"), project)


def _look(counting: Counting, over: threading.Event) -> None:
    while not over.is_set():
        counting.look()
        over.wait(_LOOK_SECONDS)


@contextmanager
def _lines(console: Console, told: Told, numbers: Numbers) -> Iterator[None]:
    over = threading.Event()

    def print_lines() -> None:
        said = ""
        while not over.is_set():
            if said != told.state:
                said = told.state
                console.print(f"{said}.", highlight=False, markup=False, soft_wrap=True)
            if not over.wait(_LINE_SECONDS):
                line = f"{_line(told, numbers)}  jobs {numbers.told_jobs}"
                console.print(line, highlight=False, markup=False, soft_wrap=True)

    printing = threading.Thread(target=print_lines, daemon=True)
    printing.start()
    try:
        yield
    finally:
        over.set()
        printing.join()


def _line(told: Told, numbers: Numbers) -> str:
    panes = sum(numbers.panes.values())
    return (
        f"{time.monotonic() - told.begun:5.1f} s  views {told.produced:,}  panes {panes:,}"
        f"  archived {numbers.archived:,}  dead {numbers.dead:,}  late {numbers.late:,}"
        f"  alerts {numbers.alerts:,}  mails {numbers.mails:,}"
    )


def _picture(told: Told, numbers: Numbers, project: Path) -> Group:
    seconds = time.monotonic() - told.begun
    head = Text.assemble(("Penstock demo  ", "bold"), (told.url, "bold underline"))
    head.append(f"   {seconds:.0f} s, {told.produced:,} page views; {told.state}\n", "dim")
    tail = Text("\nTry next, ", "dim")
    tail.append("\n  ".join(hints(project)), "dim")
    tail.append("\nCtrl-C ends it; `make demo` then goes on where it was.", "dim")
    return Group(head, _consumers(numbers), _regions(numbers), tail)


def _consumers(numbers: Numbers) -> Table:
    table = Table(title="each view has four consumers", title_justify="left", min_width=72)
    for name, side in (("group", "left"), ("what it does", "left"), ("lag", "right")):
        table.add_column(name, justify=side)  # type: ignore[arg-type]  # one of rich's words
    table.add_column("so far", justify="right", style="green")
    done = {
        "archive": f"{numbers.archived:,} views",
        "live-count": "",
        "failing-pages": f"{numbers.alerts:,} alerts, {len(numbers.firing)} now",
        "mail": f"{numbers.mails:,} mails",
    }
    for group in GROUPS:
        table.add_row(group, _EFFECTS[group], f"{numbers.lag.get(group, 0):,}", done[group])
    return table


def _regions(numbers: Numbers) -> Table:
    title = "views by region and minute, from Spark: panes " + (
        ", ".join(f"{count:,} {timing}" for timing, count in sorted(numbers.panes.items()))
        or "come with its first batch"
    )
    table = Table(title=title, title_justify="left", min_width=72)
    minutes = sorted(numbers.regions)[-4:]
    table.add_column("region")
    for minute in minutes:
        table.add_column(f"{minute:%H:%M}", justify="right")
    names = sorted({name for minute in minutes for name in numbers.regions[minute]})
    for name in names:
        table.add_row(name, *(f"{numbers.regions[m].get(name, 0):,}" for m in minutes))
    aside = f"{numbers.dead:,} damaged in dead letters, {numbers.late:,} too late"
    table.caption = f"{aside}; jobs: {numbers.told_jobs}"
    return table
