"""A job as a person reads it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from penstock.cli.sizes import size_text
from penstock.cli.times import time_text
from penstock.plan.moment import moment_text

if TYPE_CHECKING:
    from penstock.jobs.job import Job
    from penstock.model.progress import PartitionWatermark, Process, Progress

_NOTHING = "-"
_SHOWN = 5


def job_lines(job: Job, progress: Progress | None) -> Iterator[str]:
    """Give a page about a job: what it is, what it is made of, and how far it has come."""
    yield from _about(job)
    yield ""
    yield from _table(
        ("element", "kind", "instances", "processes"),
        [
            (item.id, item.kind, item.instances or "by partition", ",".join(item.processes))
            for item in job.elements
        ],
    )
    if progress is None:
        yield ""
        yield "no batch yet"
        return
    yield from _progress(progress)


def _about(job: Job) -> Iterator[str]:
    yield f"job          {job.id}, of application {job.application}"
    yield f"state        {job.state}"
    if job.failure:
        yield f"failure      {job.failure.splitlines()[0]}"
    yield f"user         {job.user}, process {job.pid} on {job.host}"
    yield f"started      {time_text(job.started_at)}"
    if job.ended_at is not None:
        yield f"ended        {time_text(job.ended_at)}"
    yield f"checkpoint   {job.checkpoint or _NOTHING}"
    fused = "fused" if job.fuse else "not fused"
    cut = f"{job.buckets} buckets, parallelism {job.parallelism}, {fused}"
    yield f"plan         {job.fingerprint}: {cut}"


def _progress(progress: Progress) -> Iterator[str]:
    yield ""
    took = f"{progress.batch_rows} rows in {progress.batch_milliseconds} ms"
    yield f"batch        {progress.batch}: {took}"
    yield f"speed        {progress.rows_per_second:.0f} rows/s"
    yield f"clock        {time_text(progress.clock)}"
    yield f"watermark    {_moment(progress.watermark)}"
    if progress.skew is not None:
        skew = progress.skew
        yield f"skew         {skew.least} to {skew.greatest} ms, {skew.mean:.0f} ms on average"
    late = sum(account.late for account in progress.accounts)
    dead = sum(account.dead for account in progress.accounts)
    yield f"beside       {late} rows late, {dead} dead letters"
    yield from _processes(progress.processes)
    yield from _tables(progress)


def _processes(processes: tuple[Process, ...]) -> Iterator[str]:
    for role in dict.fromkeys(process.role for process in processes):
        pids = (str(process.pid) for process in processes if process.role == role)
        yield f"{role:<12} pid {', '.join(pids)}"


def _tables(progress: Progress) -> Iterator[str]:
    yield ""
    yield from _table(
        ("scan", "partition", "watermark", "since", ""),
        [_partition(item) for item in progress.partitions],
    )
    yield ""
    yield from _table(
        ("step", "taken", "passed", "filtered", "late", "dead", "given"),
        [
            (i.operator, i.taken, i.passed, i.filtered, i.late, i.dead, i.given)
            for i in progress.accounts
        ],
    )
    yield ""
    yield from _table(
        ("state of", "rows", "bytes"),
        [(item.operator, item.rows, size_text(item.bytes)) for item in progress.states],
    )
    yield ""
    yield from _table(
        ("clock", "watermark"),
        [(time_text(i.clock), _moment(i.watermark)) for i in progress.history[-_SHOWN:]],
    )


def _partition(item: PartitionWatermark) -> tuple[object, ...]:
    mark = "idle" if item.idle else "holds the watermark" if item.holds else ""
    return (item.scan, item.partition, _moment(item.watermark), time_text(item.since), mark)


def _moment(watermark: int | None) -> str:
    return "none yet" if watermark is None else moment_text(watermark)


def _table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> Iterator[str]:
    texts = [columns, *([str(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    for row in texts:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
