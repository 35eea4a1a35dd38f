"""Measurements of jobs, out of the records of their runs and their progress."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias

from penstock.jobs.job import State
from penstock.log.record import TopicPartition
from penstock.model.progress import Progress
from penstock.watch.sample import Family, Kind, Sample
from penstock.watch.seen_job import SeenJob

Ends: TypeAlias = Mapping[TopicPartition, int]
"""The ends of partitions now."""
_STATES: tuple[State | str, ...] = (
    "starting", "running", "stopping", "stopped", "paused", "finished", "failed", "lost",
    "restarting", "waiting",
)  # fmt: skip
_KINDS = ("taken", "passed", "filtered", "late", "dead", "given")
_Told: TypeAlias = Callable[[SeenJob, Progress], Iterator[Sample]]


def job_families(jobs: Iterable[SeenJob], ends: Ends, now: int) -> Iterator[Family]:
    """Give the families of all jobs."""
    views = tuple(jobs)
    yield Family(
        "penstock_job_state",
        "gauge",
        "1 for the state that a job is in, 0 for the others.",
        tuple(
            Sample({"job": view.name, "state": state}, float(view.state == state))
            for view in views
            for state in _STATES
        ),
    )
    yield Family(
        "penstock_job_restarts_total",
        "counter",
        "How often a job was started again.",
        tuple(Sample({"job": view.name}, max(0, view.runs - 1)) for view in views),
    )
    for name, kind, told, samples in _families(ends, now):
        found = tuple(
            sample
            for view in views
            if view.progress is not None
            for sample in samples(view, view.progress)
        )
        yield Family(name, kind, told, found)


def _families(ends: Ends, now: int) -> Iterator[tuple[str, Kind, str, _Told]]:
    yield (
        "penstock_batches_total", "counter", "Batches that are done.",
        lambda view, told: _one(view, told.batch + 1),
    )  # fmt: skip
    yield (
        "penstock_batch_seconds", "gauge", "How long the last batch took.",
        lambda view, told: _one(view, told.batch_milliseconds / 1000),
    )  # fmt: skip
    yield (
        "penstock_batch_rows", "gauge", "How many rows the last batch took.",
        lambda view, told: _one(view, told.batch_rows),
    )  # fmt: skip
    yield "penstock_rows_total", "counter", "Rows of an operator, by what became of them.", _rows
    yield (
        "penstock_lag_records", "gauge", "Records that a job has not read yet.",
        lambda view, told: _lags(view, told, ends),
    )  # fmt: skip
    yield (
        "penstock_watermark_seconds", "gauge", "The watermark, in seconds since 1970.",
        lambda view, told: _moment(view, told.watermark),
    )  # fmt: skip
    yield (
        "penstock_watermark_delay_seconds", "gauge", "How far the watermark is behind the clock.",
        lambda view, told: _age(view, told.watermark, now),
    )  # fmt: skip
    yield (
        "penstock_watermark_still_seconds", "gauge", "How long the watermark has not moved.",
        lambda view, _: _age(view, view.watermark_since, now),
    )  # fmt: skip
    yield "penstock_state_rows", "gauge", "Rows that an operator remembers.", _state_rows
    yield "penstock_state_bytes", "gauge", "Bytes that an operator remembers.", _state_bytes
    yield (
        "penstock_checkpoint_age_seconds", "gauge", "The age of the last batch that is done.",
        lambda view, told: _age(view, told.clock, now),
    )  # fmt: skip
    yield "penstock_event_skew_seconds", "gauge", "Event time behind the clock, last batch.", _skew


def _one(view: SeenJob, value: float) -> Iterator[Sample]:
    yield Sample({"job": view.name}, value)


def _moment(view: SeenJob, at: int | None) -> Iterator[Sample]:
    if at is not None:
        yield Sample({"job": view.name}, at / 1000)


def _age(view: SeenJob, since: int | None, now: int) -> Iterator[Sample]:
    if since is not None:
        yield Sample({"job": view.name}, (now - since) / 1000)


def _rows(view: SeenJob, told: Progress) -> Iterator[Sample]:
    for account in told.accounts:
        for what in _KINDS:
            labels = {"job": view.name, "operator": account.operator, "what": what}
            yield Sample(labels, getattr(account, what))


def _lags(view: SeenJob, told: Progress, ends: Ends) -> Iterator[Sample]:
    for place in told.positions:
        end = ends.get(TopicPartition(place.topic, place.partition), place.end)
        labels = {"job": view.name, "topic": place.topic, "partition": str(place.partition)}
        yield Sample(labels, max(0, end - place.position))


def _state_rows(view: SeenJob, told: Progress) -> Iterator[Sample]:
    for item in told.states:
        yield Sample({"job": view.name, "operator": item.operator}, item.rows)


def _state_bytes(view: SeenJob, told: Progress) -> Iterator[Sample]:
    for item in told.states:
        yield Sample({"job": view.name, "operator": item.operator}, item.bytes)


def _skew(view: SeenJob, told: Progress) -> Iterator[Sample]:
    if told.skew is not None:
        for which in ("least", "mean", "greatest"):
            labels = {"job": view.name, "which": which}
            yield Sample(labels, getattr(told.skew, which) / 1000)
