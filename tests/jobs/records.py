"""Jobs for tests that need one."""

from __future__ import annotations

from penstock.jobs.job import Job, ProcessingElement
from penstock.jobs.store import JobStore
from penstock.log.embedded.memory import MemoryStorage
from penstock.model.progress import (
    Account,
    Instant,
    PartitionWatermark,
    Process,
    Progress,
    Skew,
    StateSize,
)

JOB = Job(
    id="",
    name="shop",
    application="shop",
    state="starting",
    user="ann",
    host="here",
    pid=42,
    started_at=1000,
    elements=(
        ProcessingElement("scan-views", "read", 0, ("worker 1", "worker 2"), ("read views",)),
        ProcessingElement("agg-1", "keyed", 8, ("worker 1", "worker 2")),
        ProcessingElement("out-views", "write", 1, ("driver",)),
    ),
    checkpoint="/data/shop",
    buckets=8,
    parallelism=2,
    fingerprint="0123456789abcdef",
)
PROGRESS = Progress(
    batch=7,
    clock=600_000,
    watermark=120_000,
    partitions=(
        PartitionWatermark("scan-views", 0, 120_000, since=180_000, holds=True),
        PartitionWatermark("scan-views", 1, 60_000, since=60_000, idle=True),
        PartitionWatermark("scan-views", 2, None, since=0),
    ),
    accounts=(
        Account("scan-views", taken=10, passed=9, dead=1, given=9),
        Account("agg-1", taken=9, passed=7, late=2, given=3),
    ),
    skew=Skew(100, 250.5, 900),
    states=(StateSize("agg-1", rows=12, bytes=4096),),
    rows_per_second=1234.5,
    batch_rows=10,
    batch_milliseconds=500,
    history=(Instant(590_000, 110_000), Instant(600_000, 120_000)),
    processes=(Process(43, "jvm"), Process(44, "worker"), Process(45, "worker")),
)


def a_store() -> JobStore:
    """A store that is gone with the test."""
    return JobStore(MemoryStorage())
