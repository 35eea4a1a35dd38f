"""A job as a person reads it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from penstock.plan.moment import moment_text
from penstock.text.durations import duration_text
from penstock.text.sizes import size_text
from penstock.text.times import time_text

if TYPE_CHECKING:
    from penstock.jobs.definition import Definition, Event
    from penstock.jobs.job import Job
    from penstock.jobs.view import JobView
    from penstock.model.job_settings import JobSettings
    from penstock.model.progress import PartitionWatermark, Process, Progress

JOB_COLUMNS = (
    "job", "application", "wish", "state", "version", "lag", "watermark", "restarts", "user", "run",
)  # fmt: skip
RUN_COLUMNS = ("job", "application", "state", "user", "pid", "started", "elements")

_NOTHING = "-"
_SHOWN = 5


def job_row(view: JobView) -> tuple[object, ...]:
    """Give a defined job as a row of `JOB_COLUMNS`."""
    assert view.definition is not None
    progress, run = view.progress, view.run
    return (
        view.name,
        view.definition.application,
        view.definition.wish,
        view.state,
        view.definition.version,
        _NOTHING if view.lag is None else view.lag,
        _NOTHING if progress is None else _moment(progress.watermark),
        _NOTHING if run is None else run.restarts,
        view.definition.owner,
        _NOTHING if run is None else run.id,
    )


def run_row(run: Job) -> tuple[object, ...]:
    """Give a run as a row of `RUN_COLUMNS`."""
    started = time_text(run.started_at, timespec="seconds")
    elements = ",".join(element.id for element in run.elements) or _NOTHING
    return (run.id, run.application, run.state, run.user, run.pid, started, elements)


def view_lines(view: JobView) -> Iterator[str]:
    """Give a page about a job: what it is, what it is made of, and how far it has come."""
    if view.definition is not None:
        yield from _defined(view, view.definition)
        if view.run is None:
            yield ""
            yield "no run yet"
        else:
            yield ""
    if view.run is not None:
        yield from job_lines(view.run, view.progress, "job" if view.definition is None else "run")
    yield from _errors(view.errors if view.definition is not None else ())
    yield from _history(view.history)


def _defined(view: JobView, definition: Definition) -> Iterator[str]:
    settings = definition.settings
    yield f"job          {view.name}, of application {definition.application}"
    wished = "is to run" if definition.wish == "running" else f"is {definition.wish}"
    yield f"state        {view.state}; it {wished}"
    kept = ", ".join(map(str, view.versions))
    yield f"version      {definition.version} of {kept}, plan {definition.fingerprint}"
    yield f"source       {definition.source or _NOTHING}"
    yield f"owner        {definition.owner}, since {time_text(definition.created_at)}"
    yield f"guarantee    {settings.guarantee}"
    yield f"recovery     {settings.recovery}"
    yield f"isolation    {settings.isolation}"
    restart = settings.restart
    first, longest = duration_text(restart.first_pause), duration_text(restart.longest_pause)
    yield f"restarts     {restart.tries} in a row, after {first} to {longest}"
    yield f"batches      {_batches(settings)}"
    yield f"plans        penstock jobs show {view.name} --stage all"


def _batches(settings: JobSettings) -> str:
    found = [f"at most {settings.batch_rows} rows"]
    if settings.latency == "realtime":
        return "none: real-time mode"
    if settings.latency is not None:
        found.append(f"at most {duration_text(settings.latency)} long")
    if settings.batch_every is not None:
        found.append(f"one every {duration_text(settings.batch_every)}")
    return ", ".join(found)


def _errors(failed: Sequence[Job]) -> Iterator[str]:
    if failed:
        yield ""
        rows = [
            (run.id, time_text(run.ended_at or run.started_at), run.failure.splitlines()[0])
            for run in failed[-_SHOWN:]
        ]
        yield from _table(("failed", "at", "why"), rows)


def _history(events: Sequence[Event]) -> Iterator[str]:
    if events:
        yield ""
        rows = [(time_text(i.at), i.user, i.what, i.detail) for i in events[-_SHOWN:]]
        yield from _table(("at", "user", "what", ""), rows)


def job_lines(job: Job, progress: Progress | None, word: str = "job") -> Iterator[str]:
    """Give a page about a run: what it is, what it is made of, and how far it has come."""
    yield from _about(job, word)
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


def _about(job: Job, word: str) -> Iterator[str]:
    yield f"{word}          {job.id}, of application {job.application}"
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
    if progress.positions:
        yield f"lag          {progress.lag} records"
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
    if progress.positions:
        yield ""
        yield from _table(
            ("topic", "partition", "position", "end", "lag"),
            [(i.topic, i.partition, i.position, i.end, i.lag) for i in progress.positions],
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
