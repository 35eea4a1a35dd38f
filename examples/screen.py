"""What the demo shows: a live table in a terminal, plain lines elsewhere, and a last word."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.live import Live
from rich.table import Table

from examples.flow import ENRICHED, VIEWS, Counts, Flow

_LINE_SECONDS = 2.0


@contextmanager
def shown(counts: Counts, *, seconds: float) -> Iterator[None]:
    """Show the counts while the block runs."""
    console = Console()
    say(console, f"Page views flow through Spark for {seconds:.0f} s; Ctrl-C ends it earlier.")
    if console.is_terminal:
        with Live(console=console, get_renderable=lambda: _table(counts), refresh_per_second=4):
            yield
        return
    over = threading.Event()
    printing = threading.Thread(target=_print_lines, args=(console, counts, over), daemon=True)
    printing.start()
    try:
        yield
    finally:
        over.set()
        printing.join()
        say(console, _line(counts))


def conclude(flow: Flow, *, interrupted: bool) -> int:
    """Say what came of it and where it lies; give the exit code."""
    console = Console()
    counts = flow.counts
    if flow.error is not None:
        say(console, str(flow.error))
        return 1
    if interrupted:
        say(console, "Stopped early.")
    repeated = counts.arrived - len(counts.origins)
    missing = counts.produced - len(counts.origins)
    say(
        console,
        f"{counts.produced:,} page views produced, {counts.arrived:,} arrived:"
        f" {repeated:,} twice, {missing:,} {'not processed yet' if interrupted else 'missing'}.",
    )
    say(console, f"The log is in {flow.home}; look at it with")
    for command in (f"topics describe {ENRICHED}", f"consume {ENRICHED} --from-beginning --max 5"):
        say(console, f"  PENSTOCK_HOME={flow.home} {_program()} {command}")
    return 1 if repeated or (missing and not interrupted) else 0


def _program() -> str:
    """How the reader can call Penstock: by name where it is on the path, else where it lies."""
    if shutil.which("penstock"):
        return "penstock"
    return os.path.relpath(Path(sys.executable).with_name("penstock"))


def say(console: Console, words: str) -> None:
    """Print a line as it is."""
    console.print(words, highlight=False, markup=False, soft_wrap=True)


def _print_lines(console: Console, counts: Counts, over: threading.Event) -> None:
    said = ""
    while not over.is_set():
        if said != counts.state:
            said = counts.state
            say(console, f"{said}.")
        if not over.wait(_LINE_SECONDS):
            say(console, _line(counts))


def _line(counts: Counts) -> str:
    seconds = time.monotonic() - counts.begun
    return (
        f"{seconds:5.1f} s  produced {counts.produced:,}  through Spark {counts.through_spark:,}"
        f"  in {ENRICHED} {counts.arrived:,}  rate {counts.rate:,.0f}/s  lag {counts.lag:,}"
    )


def _table(counts: Counts) -> Table:
    seconds = time.monotonic() - counts.begun
    table = Table(title=f"Penstock demo, {seconds:.0f} s", caption=counts.state, min_width=64)
    table.add_column("page views", style="bold")
    table.add_column("", justify="right")
    table.add_row(f"produced to {VIEWS}", f"{counts.produced:,}")
    table.add_row("through Spark", f"{counts.through_spark:,}")
    table.add_row(f"arrived in {ENRICHED}", f"{counts.arrived:,}", style="green")
    table.add_row("rate through Spark", f"{counts.rate:,.0f}/s")
    table.add_row("lag", f"{counts.lag:,}")
    return table
