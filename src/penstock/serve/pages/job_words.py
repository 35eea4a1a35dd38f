"""What a job's page and the list of jobs say in words."""

from __future__ import annotations

from datetime import timedelta

from penstock.jobs.host_file import HostedJob, HostView
from penstock.jobs.view import JobView
from penstock.model.progress import Progress
from penstock.text.times import time_text

NOTHING = "-"
_STATES = {
    "running": "good live",
    "starting": "info",
    "stopping": "warn",
    "waiting": "warn",
    "restarting": "warn",
    "paused": "info",
    "failed": "bad",
    "lost": "bad",
}
_LONG = 10_000
_MILLION = 1_000_000


def state_kind(state: str) -> str:
    """Give the colour of a state."""
    return _STATES.get(state, "")


def count_text(count: float | None) -> str:
    """Write a number as a person reads it."""
    if count is None:
        return NOTHING
    if count >= _MILLION:
        return f"{count / _MILLION:.1f} M"
    if count >= _LONG:
        return f"{count / 1000:.1f} k"
    return f"{count:,.0f}"


def moment_text(moment: int | None) -> str:
    """Write a time of today's calendar, to the second."""
    return NOTHING if moment is None else time_text(moment, timespec="seconds").replace("T", " ")


def ago_text(milliseconds: int | None) -> str:
    """Write how long ago something was, in its two largest units."""
    if milliseconds is None:
        return NOTHING
    seconds = max(0, milliseconds) // 1000
    spans = (("d", 86_400), ("h", 3600), ("m", 60), ("s", 1))
    parts: list[str] = []
    for unit, size in spans:
        if seconds >= size or (unit == "s" and not parts):
            parts.append(f"{seconds // size} {unit}")
            seconds %= size
    return " ".join(parts[:2])


def delay(progress: Progress | None, now: int) -> int | None:
    """Give how far the watermark is behind the clock."""
    if progress is None or progress.watermark is None:
        return None
    return now - progress.watermark


def rate_text(view: JobView) -> str:
    """Write how many rows a second its last batch read."""
    if view.progress is None:
        return NOTHING
    return f"{count_text(view.progress.rows_per_second)}/s"


def where_text(view: JobView, host: HostView | None) -> str:
    """Say which process runs a job."""
    hosted = hosted_job(view.name, host)
    if hosted is not None and hosted.state not in ("stopped", "finished", "failed"):
        return f"worker {hosted.pid}" if hosted.worker else f"host {hosted.pid}"
    if view.run is not None and view.run.alive:
        return f"process {view.run.pid}"
    return NOTHING


def hosted_job(name: str, host: HostView | None) -> HostedJob | None:
    """Give what a host that lives makes of a job."""
    if host is None or not host.alive:
        return None
    return next((job for job in host.jobs if job.name == name), None)


def restarts_of(view: JobView, host: HostView | None) -> int:
    """Give how often it was started again."""
    hosted = hosted_job(view.name, host)
    if hosted is not None:
        return hosted.restarts
    return 0 if view.run is None else view.run.restarts


def span_text(span: timedelta | None) -> str:
    """Write a span of time."""
    return NOTHING if span is None else ago_text(int(span.total_seconds() * 1000))
