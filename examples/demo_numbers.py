"""What can be counted of the demo from outside, by reading its log as anybody could."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from examples.demo_consumers import archived_rows
from examples.demo_views import VIEWS
from penstock import Consumer, open_log
from penstock.jobs.host_file import host_file
from penstock.log.port import Log
from penstock.log.record import Record

GROUPS = ("archive", "live-count", "failing-pages", "mail")
REGIONS = "views_by_region"
ALERTS = "alerts"
_MOST_ROUNDS = 20


@dataclass(slots=True)
class Numbers:
    """What was counted last."""

    lag: dict[str, int] = field(default_factory=dict)
    regions: dict[datetime, dict[str, int]] = field(default_factory=dict)
    panes: dict[str, int] = field(default_factory=dict)
    archived: int = 0
    mails: int = 0
    dead: int = 0
    late: int = 0
    firing: set[str] = field(default_factory=set)
    alerts: int = 0
    jobs: dict[str, str] = field(default_factory=dict)
    """The state of each job, and why one has failed."""

    @property
    def told_jobs(self) -> str:
        """How many jobs there are in each state, and what is wrong with one that has failed."""
        states = Counter(state.partition(" ")[0] for state in self.jobs.values())
        words = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
        failed = [f"{name}: {state}" for name, state in self.jobs.items() if " " in state]
        return f"{words or 'none yet'}{'; ' if failed else ''}{'; '.join(failed)}"


class Counting:
    """Counts again and again; what was read before is not read twice."""

    def __init__(self, home: Path) -> None:
        self.numbers = Numbers()
        self._home = home
        self._log = open_log(home)
        self._tails: dict[str, Consumer] = {}

    def close(self) -> None:
        """Let go of the log."""
        for tail in self._tails.values():
            tail.close()
        self._log.close()

    def look(self) -> None:
        """Count what there is now."""
        numbers, topics = self.numbers, self._log.topics()
        numbers.lag = {group: lag_of(self._log, group) for group in GROUPS}
        view = host_file(self._home).view()
        numbers.jobs = {
            job.name: f"{job.state} {job.failure}" if job.state == "failed" else job.state
            for job in (view.jobs if view is not None and view.alive else ())
        }
        numbers.archived = archived_rows(self._home)
        numbers.mails = len(list((self._home / "outbox").glob("*.eml")))
        numbers.dead = self._rows([name for name in topics if name.endswith(".dead")])
        numbers.late = self._rows([name for name in topics if name.endswith(".late")])
        self._read(REGIONS, topics, self._count_pane)
        self._read(ALERTS, topics, self._count_alert)

    def _rows(self, topics: list[str]) -> int:
        return sum(bounds.end for bounds in self._log.snapshot(topics).values())

    def _read(
        self, topic: str, topics: tuple[str, ...], take: Callable[[Mapping[str, Any]], None]
    ) -> None:
        if topic not in topics:
            return
        if topic not in self._tails:
            self._tails[topic] = Consumer(self._log, topic, max_poll_records=5_000)
        for _ in range(_MOST_ROUNDS):
            records: list[Record] = self._tails[topic].poll(timeout=0)
            if not records:
                return
            for record in records:
                if isinstance(record.value, Mapping):
                    take(record.value)

    def _count_pane(self, row: Mapping[str, Any]) -> None:
        numbers, given = self.numbers, row["_weight"] > 0
        if given:
            regions = numbers.regions.setdefault(row["window_start"], {})
            regions[row["regionid"] or "nowhere"] = row["views"]
        word = "given" if given else "taken back"
        numbers.panes[word] = numbers.panes.get(word, 0) + 1

    def _count_alert(self, row: Mapping[str, Any]) -> None:
        numbers = self.numbers
        if row["state"] == "firing":
            numbers.alerts += 1
            numbers.firing.add(row["key"])
        else:
            numbers.firing.discard(row["key"])


def lag_of(log: Log, group: str) -> int:
    """Give how many page views a group has not worked on yet."""
    committed = log.committed(group) if group in log.groups() else {}
    ends = log.snapshot([VIEWS])
    return sum(bounds.end - committed.get(place, 0) for place, bounds in ends.items())
