"""Page views, through Spark, to a second topic, counted live: `make demo`.

A producer writes page views to the topic `pageviews`; a Spark query adds the section of the
site to each and writes it to `pageviews_enriched`, exactly once; a consumer counts what
arrives there. `PENSTOCK_DEMO_SECONDS` (30) and `PENSTOCK_DEMO_RATE` (2000 a second) change it.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from rich.console import Console
from rich.live import Live
from rich.table import Table

from examples.generate import PAGE_VIEWS, PageViews, paced
from penstock import Consumer, PenstockError, Producer, open_log

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

SECONDS = float(os.environ.get("PENSTOCK_DEMO_SECONDS", "30"))
RATE = int(os.environ.get("PENSTOCK_DEMO_RATE", "2000"))
PATIENCE = 90.0

VIEWS = "pageviews"
ENRICHED = "pageviews_enriched"
ENRICHED_VIEWS = pa.schema([*PAGE_VIEWS, ("section", pa.string()), ("origin", pa.string())])
PIPELINE = (
    "_key",
    "viewtime",
    "userid",
    "pageid",
    "case when pageid < 'Page_4' then 'home' when pageid < 'Page_8' then 'shop' else 'help' end"
    " as section",
    "concat(_partition, '-', _offset) as origin",
)


@dataclass(slots=True)
class Counts:
    """What the demo has seen so far; each number is written by one thread only."""

    begun: float = field(default_factory=time.monotonic)
    state: str = "Spark is starting (about ten seconds); page views are waiting in the log"
    produced: int = 0
    through_spark: int = 0
    rate: float = 0.0
    arrived: int = 0
    origins: set[str] = field(default_factory=set)

    @property
    def lag(self) -> int:
        """The page views that have not arrived yet."""
        return max(0, self.produced - self.arrived)

    def line(self) -> str:
        """All of it in one line, for a terminal that is none."""
        seconds = time.monotonic() - self.begun
        return (
            f"{seconds:5.1f} s  produced {self.produced:,}  through Spark {self.through_spark:,}"
            f"  in {ENRICHED} {self.arrived:,}  rate {self.rate:,.0f}/s  lag {self.lag:,}"
        )

    def table(self) -> Table:
        """All of it as a small table."""
        seconds = time.monotonic() - self.begun
        table = Table(title=f"Penstock demo, {seconds:.0f} s", caption=self.state, min_width=60)
        table.add_column("page views", style="bold")
        table.add_column("", justify="right")
        table.add_row(f'produced to "{VIEWS}"', f"{self.produced:,}")
        table.add_row("through Spark", f"{self.through_spark:,}")
        table.add_row(f'arrived in "{ENRICHED}"', f"{self.arrived:,}", style="green")
        table.add_row("rate through Spark", f"{self.rate:,.0f}/s")
        table.add_row("lag", f"{self.lag:,}")
        return table


def main() -> int:
    """Run the demo; give the exit code."""
    console = Console()
    home = Path(tempfile.mkdtemp(prefix="penstock-demo-"))
    counts = Counts()
    console.print(f"Page views flow through Spark for {SECONDS:.0f} s; Ctrl-C ends it earlier.")
    complete = False
    try:
        with shown(counts, console):
            run(home, counts)
        complete = True
    except KeyboardInterrupt:
        console.print("Stopped early.")
    except PenstockError as error:
        console.print(str(error), style="red", markup=False)
        return 1
    return conclude(home, counts, console, complete=complete)


def run(home: Path, counts: Counts) -> None:
    """Produce, process and count until the time is over and everything has arrived."""
    over = threading.Event()
    with open_log(home) as log:
        log.create_topic(VIEWS, partitions=2, schema=PAGE_VIEWS)
        log.create_topic(ENRICHED, partitions=2, schema=ENRICHED_VIEWS)
        producing = threading.Thread(target=produce, args=(home, counts, over))
        counting = threading.Thread(target=count, args=(home, counts, over), daemon=True)
        producing.start()
        counting.start()

        def finish() -> None:
            over.set()
            producing.join()

        try:
            process(home, counts, finish)
        finally:
            over.set()
            producing.join()
            counting.join(timeout=5)


def produce(home: Path, counts: Counts, over: threading.Event) -> None:
    """Write page views at a steady rate."""
    views = PageViews(seed=1)
    with open_log(home) as log, Producer(log) as producer:
        for due in paced(RATE, pause=over.wait):
            producer.send_rows(VIEWS, views.rows(due, at=time.time_ns() // 1_000_000))
            counts.produced += due


def count(home: Path, counts: Counts, over: threading.Event) -> None:
    """Count what arrives in the second topic, as any consumer would see it."""
    with open_log(home) as log, Consumer(log, ENRICHED) as consumer:
        deadline: float | None = None
        while deadline is None or time.monotonic() < deadline:
            batch = consumer.poll_batch(timeout=0.2)
            if batch is not None:
                counts.origins.update(batch.rows.column("origin").to_pylist())
                counts.arrived += batch.rows.num_rows
            elif over.is_set() and deadline is None:
                deadline = time.monotonic() + 1.0


def process(home: Path, counts: Counts, finish: Callable[[], None]) -> None:
    """Run the Spark query; when the time is over, let it work off what was produced."""
    from penstock.spark.failure import run_error  # noqa: PLC0415  # Spark takes its time
    from penstock.spark.session import spark_session, stop_session  # noqa: PLC0415

    spark = spark_session(quick_start=True)
    counts.state = "Spark is up and plans its first batch"
    source = spark.readStream.format("penstock").options(home=str(home), topic=VIEWS)
    sink = source.load().selectExpr(*PIPELINE).writeStream.format("penstock")
    places = {"home": str(home), "checkpointLocation": str(home / "checkpoints" / "demo")}
    query = sink.options(topic=ENRICHED, **places).start()
    try:
        follow(query, counts, finish)
        error = query.exception()
        if error is not None:
            raise run_error(error)
    finally:
        query.stop()
        stop_session()


def follow(query: StreamingQuery, counts: Counts, finish: Callable[[], None]) -> None:
    """Watch the query for the length of the demo, and until everything has arrived."""
    from penstock.spark.progress import progress_of  # noqa: PLC0415

    latest = time.monotonic() + SECONDS + PATIENCE
    ends = latest
    finished = False
    while query.isActive and time.monotonic() < latest:
        report = query.lastProgress
        if report is not None:
            progress = progress_of(report)
            counts.rate = progress.rows_per_second
            counts.through_spark = sum(progress.position_by_partition.values())
            if not finished:
                counts.state = "each page view is written once, whatever happens"
            ends = min(ends, time.monotonic() + SECONDS)
        if not finished and time.monotonic() >= ends:
            finish()
            finished = True
            counts.state = "no more page views: Spark works off what is left"
        if finished and min(counts.arrived, counts.through_spark) >= counts.produced:
            return
        time.sleep(0.1)


@contextmanager
def shown(counts: Counts, console: Console) -> Iterator[None]:
    """Show the counts while the block runs: live in a terminal, as lines elsewhere."""
    if console.is_terminal:
        with Live(console=console, get_renderable=counts.table, refresh_per_second=4):
            yield
        return
    over = threading.Event()

    def print_lines() -> None:
        said = ""
        while not over.wait(2.0):
            if said != counts.state:
                said = counts.state
                console.print(f"{said}.", highlight=False, soft_wrap=True)
            console.print(counts.line(), highlight=False, soft_wrap=True)

    printing = threading.Thread(target=print_lines, daemon=True)
    printing.start()
    try:
        yield
    finally:
        over.set()
        printing.join()
        console.print(counts.line(), highlight=False, soft_wrap=True)


def conclude(home: Path, counts: Counts, console: Console, *, complete: bool) -> int:
    """Say what came of it and where it lies."""
    repeated = counts.arrived - len(counts.origins)
    missing = counts.produced - len(counts.origins)
    console.print(
        f"{counts.produced:,} page views produced, {counts.arrived:,} arrived:"
        f" {repeated:,} twice, {missing:,} {'missing' if complete else 'not processed yet'}."
    )
    console.print(f"The log is in {home}; look at it with", soft_wrap=True, highlight=False)
    for command in (f"topics describe {ENRICHED}", f"consume {ENRICHED} --from-beginning --max 5"):
        console.print(f"  PENSTOCK_HOME={home} penstock {command}", soft_wrap=True, highlight=False)
    return 1 if repeated or (missing and complete) else 0


if __name__ == "__main__":
    sys.exit(main())
