"""Rules and their alerts as they stand, for people to read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.log.embedded.disk import DiskStorage
from penstock.log.embedded.refusals import coded_storage_errors
from penstock.log.port import Log
from penstock.watch.alert import LIVE, Alert
from penstock.watch.ledger import alert_topics, alerts_in
from penstock.watch.made_rules import made_rules
from penstock.watch.rule import Rule
from penstock.watch.silence import Silence, silences
from penstock.watch.watcher import LOCK, STATUS

_PATIENCE = 0.02


@dataclass(frozen=True, slots=True)
class RuleView:
    """A rule, its alerts that are pending or firing, and what keeps it from working."""

    rule: Rule
    alerts: tuple[Alert, ...]
    silences: tuple[Silence, ...]
    problem: str = ""
    made: bool = False
    """Whether it was made at a server, and stands in no configuration."""


@dataclass(frozen=True, slots=True)
class Overview:
    """All rules; whether somebody watches, and which receivers do not take what they are told."""

    rules: tuple[RuleView, ...]
    watched: bool
    receivers: Mapping[str, Mapping[str, Any]]


def overview(home: Path, rules: Sequence[Rule], log: Log | None, now: int) -> Overview:
    """Look at what was written down."""
    storage = DiskStorage(home / "watch")
    status: Any = {}
    with coded_storage_errors("looking at alerts"):
        if storage.exists(STATUS):
            status = json.loads(storage.read(STATUS))
        watched = storage.exists(LOCK) and _is_held(storage)
    topics = () if log is None else alert_topics(log)
    known = {topic: alerts_in(log, topic) for topic in topics if log is not None}
    quiet = silences(home).all(now)
    made = made_rules(home).tables()
    problems = status.get("rules", {}) if watched else {}
    return Overview(
        tuple(
            RuleView(
                rule,
                _live(rule, known.get(rule.topic, {})),
                tuple(silence for silence in quiet if silence.rule == rule.name),
                problems.get(rule.name, ""),
                rule.name in made,
            )
            for rule in rules
        ),
        watched,
        status.get("receivers", {}) if watched else {},
    )


def _live(rule: Rule, known: Mapping[tuple[str, str], Alert]) -> tuple[Alert, ...]:
    return tuple(a for a in known.values() if a.rule == rule.name and a.state in LIVE)


def _is_held(storage: DiskStorage) -> bool:
    lock = storage.lock(LOCK)
    try:
        return not lock.acquire(_PATIENCE)
    finally:
        lock.close()
