"""Rules on what can be asked for at any time: measurements, and jobs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import polars as pl

from penstock.kernel.columns import from_rows
from penstock.kernel.port import Frame
from penstock.log.port import Transaction
from penstock.log.record import TopicPartition
from penstock.model.progress import Progress
from penstock.schema.schema import Field, Schema
from penstock.schema.types import FLOAT64, INT64, STRING
from penstock.watch.job_metrics import Ends
from penstock.watch.judge import Judge, judge_of
from penstock.watch.rule import Rule
from penstock.watch.sample import Family
from penstock.watch.seen_job import SeenJob
from penstock.watch.sighting import HOLDS, KEY, NO_KEY, Sighting, sightings
from penstock.watch.topic_observers import Recent, unseen
from penstock.watch.topic_rows import AT

_SUM = ("late", "dead", "filtered")
JOB_SCHEMA = Schema(
    (
        *(Field(name, STRING) for name in ("job", "state", "wish", "run", "failure")),
        *(Field(name, INT64) for name in ("restarts", "lag", "batches", "state_rows")),
        *(Field(name, INT64) for name in ("state_bytes", *_SUM)),
        *(Field(name, FLOAT64) for name in ("watermark_delay", "watermark_still", "batch_age")),
    )
)
"""A job as a row; times are seconds."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Rows of now, the columns they have, and those that tell them apart."""

    schema: Schema
    key: tuple[str, ...]
    rows: Frame


Take: TypeAlias = Callable[[int], Snapshot]


class SnapshotObserver:
    """Sees rows that are made when it looks."""

    def __init__(self, rule: Rule, take: Take) -> None:
        self._rule = rule
        self._take = take
        self._judge: Judge | None = None
        self._columns: Schema | None = None
        self._recent: Recent | None = None

    def look(self, now: int, active: Collection[str]) -> list[Sighting]:
        """Take rows, and judge them."""
        found = self._take(now)
        if self._rule.absent is not None:
            there = found.rows.height > 0
            return [Sighting(NO_KEY, not there, there, {self._rule.watched: self._rule.place})]
        if not found.schema.fields:
            return unseen([], active)
        judge = self._judge_of(found)
        rows = judge.keyed(found.rows)
        if self._recent is not None:
            keys = rows[KEY].to_list()
            self._recent.add(rows.with_columns(pl.lit(now, dtype=pl.Int64).alias(AT)))
            latest = self._recent.latest(now)
            assert latest is not None
            rows = latest.filter(pl.col(KEY).is_in(keys))
        wanted = pl.col(HOLDS) | pl.col(KEY).is_in(list(active))
        return unseen(list(sightings(judge.judged(rows).filter(wanted))), active)

    def commit(self, transaction: Transaction | None) -> None:
        """Nothing is read."""

    def _judge_of(self, found: Snapshot) -> Judge:
        if self._judge is None or self._columns != found.schema:
            key = self._rule.key or found.key
            self._judge, self._columns = judge_of(self._rule, found.schema, key), found.schema
            self._recent = None if self._rule.over is None else Recent(self._judge)
        return self._judge


def metric_rows(families: Iterable[Family], name: str) -> Snapshot:
    """Give the samples of a family as rows: their labels, and `value`."""
    samples = [sample for family in families if family.name == name for sample in family.samples]
    labels = tuple(dict.fromkeys(label for sample in samples for label in sample.labels))
    if not samples:
        return Snapshot(Schema(()), (), pl.DataFrame())
    fields = (*(Field(label, STRING) for label in labels), Field("value", FLOAT64))
    rows = [{**sample.labels, "value": float(sample.value)} for sample in samples]
    return Snapshot(Schema(fields), labels, from_rows(rows, Schema(fields)))


def job_rows(views: Iterable[SeenJob], name: str, ends: Ends, now: int) -> Snapshot:
    """Give jobs as rows: the one of a name, or all for `*`."""
    rows = [_row(view, ends, now) for view in views if name in ("*", view.name)]
    return Snapshot(JOB_SCHEMA, ("job",), from_rows(rows, JOB_SCHEMA))


def _row(view: SeenJob, ends: Ends, now: int) -> dict[str, Any]:
    run, definition = view.run, view.definition
    row: dict[str, Any] = {
        "job": view.name,
        "state": view.state,
        "wish": "" if definition is None else definition.wish,
        "run": "" if run is None else run.id,
        "failure": "" if run is None else next(iter(run.failure.splitlines()), ""),
        "restarts": max(0, view.runs - 1),
    }
    return row if view.progress is None else row | _progress(view, view.progress, ends, now)


def _progress(view: SeenJob, told: Progress, ends: Ends, now: int) -> dict[str, Any]:
    lags = [
        max(0, ends.get(TopicPartition(at.topic, at.partition), at.end) - at.position)
        for at in told.positions
    ]
    return {
        "lag": sum(lags),
        "batches": told.batch + 1,
        "state_rows": sum(item.rows for item in told.states),
        "state_bytes": sum(item.bytes for item in told.states),
        **{what: _sum(told, what) for what in _SUM},
        "watermark_delay": _seconds(now, told.watermark),
        "watermark_still": _seconds(now, view.watermark_since),
        "batch_age": _seconds(now, told.clock),
    }


def _sum(told: Progress, what: str) -> int:
    values: Sequence[int] = [getattr(account, what) for account in told.accounts]
    return sum(values)


def _seconds(now: int, at: int | None) -> float | None:
    return None if at is None else (now - at) / 1000
