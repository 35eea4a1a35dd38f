"""The pipeline of the demo: a producer, a Spark query and a consumer on one log.

The producer writes page views to the topic `pageviews`; the query adds the section of the
site to each and writes it to `pageviews_enriched`, exactly once; the consumer counts what
arrives there and remembers where each view came from, so that none is counted twice unseen.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from examples.generate import PAGE_VIEWS, PageViews, paced
from penstock import Consumer, PenstockError, Producer, open_log

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

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

# However slow the machine: the demo ends this long after it could have, in seconds.
_PATIENCE = 120.0


@dataclass(slots=True)
class Counts:
    """What the demo has seen so far; each number is written by one thread only."""

    begun: float = field(default_factory=time.monotonic)
    state: str = "Spark is starting (some ten seconds); page views wait for it in the log"
    produced: int = 0
    through_spark: int = 0
    rate: float = 0.0
    arrived: int = 0
    origins: set[str] = field(default_factory=set)

    @property
    def lag(self) -> int:
        """The page views that have not arrived yet."""
        return max(0, self.produced - self.arrived)


class Flow:
    """Runs the three parts in threads until the time is over and everything has arrived."""

    def __init__(self, *, home: Path, seconds: float, rate: int) -> None:
        self.home = home
        self.seconds = seconds
        self.rate = rate
        self.counts = Counts()
        self.error: PenstockError | None = None
        self._enough = threading.Event()
        self._over = threading.Event()
        self._producing = threading.Thread(target=self._produce, daemon=True)
        self._counting = threading.Thread(target=self._count, daemon=True)
        self._processing = threading.Thread(target=self._process, daemon=True)

    def run(self, interrupted: threading.Event) -> None:
        """Let it flow until the end, or until it is interrupted."""
        with open_log(self.home) as log:
            log.create_topic(VIEWS, partitions=2, schema=PAGE_VIEWS)
            log.create_topic(ENRICHED, partitions=2, schema=ENRICHED_VIEWS)
        for thread in (self._producing, self._counting, self._processing):
            thread.start()
        while self._processing.is_alive() and not interrupted.wait(0.1):
            pass
        self._enough.set()
        self._over.set()
        # A Spark that is still starting is left to end with this process.
        if self.counts.through_spark:
            self._processing.join(timeout=20)
            self._counting.join(timeout=5)
        self._producing.join(timeout=5)

    def _produce(self) -> None:
        views = PageViews(seed=1)
        with open_log(self.home) as log, Producer(log) as producer:
            for due in paced(self.rate, pause=self._enough.wait):
                producer.send_rows(VIEWS, views.rows(due, at=time.time_ns() // 1_000_000))
                self.counts.produced += due

    def _count(self) -> None:
        with open_log(self.home) as log, Consumer(log, ENRICHED) as consumer:
            while True:
                batch = consumer.poll_batch(timeout=0.2)
                if batch is not None:
                    self.counts.origins.update(batch.rows.column("origin").to_pylist())
                    self.counts.arrived += batch.rows.num_rows
                elif self._over.is_set() and not self._processing.is_alive():
                    return

    def _process(self) -> None:
        try:
            self._run_spark()
        except PenstockError as error:
            self.error = error

    def _run_spark(self) -> None:
        from penstock.spark.failure import run_error  # noqa: PLC0415  # Spark takes its time
        from penstock.spark.session import spark_session, stop_session  # noqa: PLC0415

        spark = spark_session(quick_start=True)
        self.counts.state = "Spark is up and plans its first batch"
        query = self._start(spark)
        try:
            self._follow(query)
            error = query.exception()
            if error is not None:
                raise run_error(error)
        finally:
            query.stop()
            stop_session()

    def _start(self, spark: SparkSession) -> StreamingQuery:
        home = str(self.home)
        checkpoint = str(self.home / "checkpoints" / "demo")
        source = spark.readStream.format("penstock").options(home=home, topic=VIEWS).load()
        sink = source.selectExpr(*PIPELINE).writeStream.format("penstock")
        return sink.options(home=home, topic=ENRICHED, checkpointLocation=checkpoint).start()

    def _follow(self, query: StreamingQuery) -> None:
        """Watch the query for the length of the demo, and until everything has arrived."""
        from penstock.spark.progress import progress_of  # noqa: PLC0415

        latest = time.monotonic() + self.seconds + _PATIENCE
        ends: float | None = None
        while query.isActive and not self._over.wait(0.1) and time.monotonic() < latest:
            report = query.lastProgress
            if report is None:
                continue
            progress = progress_of(report)
            self.counts.rate = progress.rows_per_second
            self.counts.through_spark = sum(progress.position_by_partition.values())
            ends = ends or time.monotonic() + self.seconds
            if self._finished_by(ends):
                return

    def _finished_by(self, ends: float) -> bool:
        counts = self.counts
        if time.monotonic() < ends:
            counts.state = "each page view is written once, whatever happens"
            return False
        counts.state = "no more page views: Spark works off what is left"
        self._enough.set()
        self._producing.join()
        return min(counts.arrived, counts.through_spark) >= counts.produced
