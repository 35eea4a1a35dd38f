"""The life of an alert: pending, firing, resolved. A pure function of what is seen and when."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, Literal, TypeAlias

from penstock.model.duration import duration_text
from penstock.watch.rule import Rule
from penstock.watch.sighting import Sighting, json_text

AlertState: TypeAlias = Literal["pending", "firing", "resolved", "withdrawn"]
"""Pending: holds, but not long enough yet. Withdrawn: it never was long enough."""
LIVE: tuple[AlertState, ...] = ("pending", "firing")
_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class Alert:
    """An alert as it was last written down; times are milliseconds since 1970.

    `since` is when its rule began to hold, `at` when this was written. `notice` counts how often
    it was told that it fires.
    """

    rule: str
    key: str
    state: AlertState
    since: int
    at: int
    notice: int = 0
    group: str = "{}"
    value: str = "{}"
    message: str = ""
    calm_since: int | None = field(default=None, compare=False)
    """When it was first seen to be over; only who watches knows."""

    @property
    def id(self) -> str:
        """What tells this notice from all others, and a repeated one from a new one."""
        parts = json.dumps([self.rule, self.key, self.since, self.state, self.notice])
        return hashlib.sha256(parts.encode()).hexdigest()[:24]


def next_alert(rule: Rule, before: Alert | None, seen: Sighting, now: int) -> Alert | None:
    """Give what becomes of an alert; the same one where nothing is to be written down."""
    if before is None or before.state not in LIVE:
        return _begun(rule, seen, now) if seen.holds else before
    if before.state == "pending":
        return _waited(rule, before, seen, now)
    settle = _over if seen.clears else _lasting
    return settle(rule, before, seen, now)


def _begun(rule: Rule, seen: Sighting, now: int) -> Alert:
    fires = rule.patience == timedelta(0)
    state: AlertState = "firing" if fires else "pending"
    return _told(rule, Alert(rule.name, seen.key, state, now, now, int(fires)), seen.row)


def _waited(rule: Rule, before: Alert, seen: Sighting, now: int) -> Alert:
    if not seen.holds:
        return replace(before, state="withdrawn", at=now)
    if now - before.since < rule.patience // _MILLISECOND:
        return before
    return _told(rule, replace(before, state="firing", at=now, notice=1), seen.row)


def _over(rule: Rule, before: Alert, seen: Sighting, now: int) -> Alert:
    calm = now if before.calm_since is None else before.calm_since
    if now - calm < rule.calm // _MILLISECOND:
        return replace(before, calm_since=calm)
    over = replace(before, state="resolved", at=now, calm_since=None)
    if not seen.row:
        return over
    # The group stays: who was told that it fires is told that it is over.
    return replace(_told(rule, over, seen.row), group=before.group)


def _lasting(rule: Rule, before: Alert, seen: Sighting, now: int) -> Alert:
    still = replace(before, calm_since=None)
    if rule.repeat_every is None or now - before.at < rule.repeat_every // _MILLISECOND:
        return still
    return _told(rule, replace(still, at=now, notice=before.notice + 1), seen.row)


def _told(rule: Rule, alert: Alert, row: Mapping[str, Any]) -> Alert:
    group = {name: row.get(name) for name in rule.group_by}
    return replace(
        alert,
        group=json_text(group),
        value=json_text(row),
        message=_message(rule, alert.key, row),
    )


def _message(rule: Rule, key: str, row: Mapping[str, Any]) -> str:
    if rule.message:
        plain = json.loads(json_text(row))
        found = rule.message
        for name, value in plain.items():
            found = found.replace("{" + name + "}", str(value))
        return found
    place = f"{rule.watched} {rule.place}"
    of = "" if key == "{}" else f" {key}"
    if rule.absent is not None:
        return f"{rule.name}: nothing from {place}{of} for {duration_text(rule.absent)}"
    return f"{rule.name}: {rule.when} in {place}{of}: {json_text(row)}"
