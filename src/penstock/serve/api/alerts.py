"""Alerts over HTTP: the rules, what fires, and silence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request

from penstock.clock import SYSTEM_CLOCK
from penstock.config import load_settings
from penstock.errors import UsageError
from penstock.serve.access.needs import needs, require
from penstock.serve.access.role import Role
from penstock.serve.platform import Platform
from penstock.text.durations import parse_duration
from penstock.watch.overview import overview
from penstock.watch.overview_document import overview_document
from penstock.watch.rule_document import require_rule, rules_of
from penstock.watch.silence import Silence, silences

RuleName = Annotated[str, Path(max_length=200, description="A rule's name, as in [alerts.RULE].")]


@dataclass(frozen=True, slots=True)
class RuleShown:
    """A rule with its alerts that are pending or firing, its silences, and what is wrong."""

    rule: str
    on: dict[str, str]
    when: str
    to: list[str]
    problem: str
    silences: list[dict[str, Any]]
    alerts: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class AlertsShown:
    """All rules; whether somebody watches, and how receivers do."""

    watched: bool
    receivers: dict[str, dict[str, Any]]
    rules: list[RuleShown]


@dataclass(frozen=True, slots=True)
class SilenceWanted:
    """How long nobody is to be told, such as `2h`; `key` means one key only."""

    length: str
    key: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class SilenceShown:
    """Until when, in milliseconds since 1970, nobody is told."""

    rule: str
    key: str
    until: int


def routes(platform: Platform) -> APIRouter:
    """Give the routes of alerts."""
    router = APIRouter(prefix="/alerts", tags=["alerts"])

    @router.get("", dependencies=[needs(Role.READER)])
    def list_alerts() -> AlertsShown:
        """List the rules, and the alerts that are pending or firing."""
        rules = rules_of(load_settings().alerts)
        found = overview(platform.home, rules, platform.log, SYSTEM_CLOCK.now())
        document = overview_document(found)
        return AlertsShown(
            document["watched"],
            {name: dict(told) for name, told in document["receivers"].items()},
            [RuleShown(**rule) for rule in document["rules"]],
        )

    @router.post("/{rule}/silence", dependencies=[needs(Role.WRITER)])
    def silence_rule(rule: RuleName, wanted: SilenceWanted, request: Request) -> SilenceShown:
        """Tell nobody of a rule's alerts for a while. They are written down all the same."""
        require_rule(load_settings().alerts, rule)
        now = SYSTEM_CLOCK.now()
        milliseconds = round(parse_duration(wanted.length).total_seconds() * 1000)
        if milliseconds <= 0:
            raise UsageError(
                "ALERT_SILENCE",
                f'a silence of rule "{rule}" lasts no time at all',
                hint="Give a length such as 2h.",
            )
        who = require(request, Role.WRITER).name
        made = Silence(rule, now + milliseconds, wanted.key, who, wanted.reason)
        silences(platform.home).add(made, now)
        return SilenceShown(rule, wanted.key, made.until)

    @router.delete("/{rule}/silence", dependencies=[needs(Role.WRITER)])
    def end_silence(rule: RuleName, key: str = "") -> SilenceShown:
        """Let a rule be told again."""
        require_rule(load_settings().alerts, rule)
        now = SYSTEM_CLOCK.now()
        silences(platform.home).end(rule, key, now)
        return SilenceShown(rule, key, now)

    return router
