"""What looks at each kind of thing that a rule can be on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from penstock.clock import ManualClock
from penstock.config import Settings
from penstock.errors import PenstockError
from penstock.log.embedded.log import EmbeddedLog
from penstock.watch.log_metrics import ends_of
from penstock.watch.metrics import collect
from penstock.watch.rule import Rule
from penstock.watch.sample import Family
from penstock.watch.seen_job import SeenJob, seen_jobs
from penstock.watch.sighting import Observer
from penstock.watch.snapshot_observer import Snapshot, SnapshotObserver, job_rows, metric_rows
from penstock.watch.topic_observers import (
    ChangeObserver,
    KeyAbsence,
    StreamObserver,
    TableObserver,
    TopicAbsence,
)
from penstock.watch.topic_rows import TopicRows

_TRY_AGAIN = 5_000
FRESH = 5_000
"""How long what was asked of jobs is as good as new, in milliseconds."""
_MISSING = "TOPIC_MISSING"


@dataclass(slots=True)
class Sources:
    """What observers ask: jobs and measurements, which take a while to ask, not every time."""

    home: Path
    log: EmbeddedLog
    settings: Settings
    _families: tuple[int, list[Family]] | None = None
    _seen: tuple[int, list[SeenJob]] | None = None

    def observer(self, rule: Rule, *, new: bool = False) -> Observer:
        """Give what looks at the thing a rule is on; all rows of a `new` stream are news."""
        if rule.watched == "metric":
            return SnapshotObserver(rule, lambda now: metric_rows(self._measured(now), rule.metric))
        if rule.watched == "job":
            return SnapshotObserver(rule, lambda now: self._jobs(rule.job, now))
        if rule.absent is not None and not rule.key:
            return TopicAbsence(rule, self.log)
        rows = TopicRows(rule, self.log, self.settings, {})
        if rule.absent is not None:
            return KeyAbsence(rule, rows)
        if rule.watched == "stream":
            group = f"penstock.alerts.stream.{rule.name}"
            return StreamObserver(rule, rows, self.log, group, new=new)
        return TableObserver(rule, rows) if rule.over is None else ChangeObserver(rule, rows)

    def _measured(self, now: int) -> list[Family]:
        if self._families is None or now - self._families[0] >= FRESH:
            self._families = (now, collect(self.home, self.log, clock=ManualClock(now)))
        return self._families[1]

    def _jobs(self, name: str, now: int) -> Snapshot:
        if self._seen is None or now - self._seen[0] >= FRESH:
            self._seen = (now, list(seen_jobs(self.home)))
        return job_rows(self._seen[1], name, ends_of(self.log), now)


class Observers:
    """The observers of rules; one that cannot be made now is tried again later."""

    def __init__(self, rules: Iterable[Rule], sources: Sources) -> None:
        self._rules = {rule.name: rule for rule in rules}
        self._sources = sources
        self._made: dict[str, Observer] = {}
        self._not_before: dict[str, int] = {}
        self._missing: set[str] = set()
        self.problems: dict[str, str] = {}

    def of(self, rule: Rule, now: int) -> Observer | None:
        """Give the observer of a rule; none where what it is on cannot be looked at."""
        if rule.name in self._made:
            return self._made[rule.name]
        if now < self._not_before.get(rule.name, 0):
            return None
        try:
            new = rule.name in self._missing
            self._made[rule.name] = self._sources.observer(rule, new=new)
        except PenstockError as error:
            self.failed(rule, error, now)
            return None
        return self._made[rule.name]

    def failed(self, rule: Rule, error: PenstockError, now: int) -> None:
        """Make an observer anew after something went wrong with it."""
        self._made.pop(rule.name, None)
        self._not_before[rule.name] = now + _TRY_AGAIN
        self.problems[rule.name] = f"[{error.code}] {error.fact}"
        if error.code == _MISSING:
            self._missing.add(rule.name)

    def forget(self) -> None:
        """Make all of them anew: what they have seen was not written down."""
        self._made.clear()
