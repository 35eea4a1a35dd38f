"""Alerts over HTTP: the rules, what fires, and silence."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Request, Response
from pydantic import Field

from penstock.clock import SYSTEM_CLOCK
from penstock.config import load_settings
from penstock.errors import UsageError
from penstock.serve.access.needs import needs, require
from penstock.serve.access.role import Role
from penstock.serve.platform import Platform
from penstock.text.durations import parse_duration
from penstock.watch.made_rules import made_rules, rule_tables, rules_now
from penstock.watch.overview import overview
from penstock.watch.overview_document import overview_document
from penstock.watch.rule_document import require_rule
from penstock.watch.silence import Silence, silences

RuleName = Annotated[str, Path(max_length=200, description="A rule's name, as in [alerts.RULE].")]

RuleWords = Annotated[
    dict[str, Annotated[str, Field(max_length=10_000)] | list[str]],
    Body(examples=[{"table": "failures", "when": "failures > 10", "for": "1 minute"}]),
]


@dataclass(frozen=True, slots=True)
class RuleShown:
    """A rule with its alerts that are pending or firing, its silences, and what is wrong."""

    rule: str
    on: dict[str, str]
    when: str
    to: list[str]
    problem: str
    made: bool
    """Whether it was made here; others stand in the configuration."""
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
        document = _overview(platform)
        return AlertsShown(
            document["watched"],
            {name: dict(told) for name, told in document["receivers"].items()},
            [RuleShown(**rule) for rule in document["rules"]],
        )

    made: dict[int | str, dict[str, Any]] = {
        HTTPStatus.CREATED.value: {"model": RuleShown, "description": "It was made."}
    }

    @router.put("/{rule}", dependencies=[needs(Role.ADMIN)], responses=made)
    def put_rule(rule: RuleName, words: RuleWords, response: Response) -> RuleShown:
        """Make a rule with the words of `[alerts.NAME]`, or change one that was made here.

        For admins: the server sends to whatever receiver a rule names.
        """
        if made_rules(platform.home).put(rule, words, load_settings().alerts):
            response.status_code = HTTPStatus.CREATED
        rules = _overview(platform)["rules"]
        return RuleShown(**next(item for item in rules if item["rule"] == rule))

    @router.delete("/{rule}", dependencies=[needs(Role.ADMIN)], status_code=HTTPStatus.NO_CONTENT)
    def remove_rule(rule: RuleName) -> None:
        """Forget a rule that was made here; its alerts stay written down."""
        made_rules(platform.home).remove(rule, load_settings().alerts)

    @router.post("/{rule}/silence", dependencies=[needs(Role.WRITER)])
    def silence_rule(rule: RuleName, wanted: SilenceWanted, request: Request) -> SilenceShown:
        """Tell nobody of a rule's alerts for a while. They are written down all the same."""
        _require_rule(platform, rule)
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
        _require_rule(platform, rule)
        now = SYSTEM_CLOCK.now()
        silences(platform.home).end(rule, key, now)
        return SilenceShown(rule, key, now)

    return router


def _overview(platform: Platform) -> dict[str, Any]:
    rules = rules_now(platform.home, load_settings().alerts)
    return overview_document(overview(platform.home, rules, platform.log, SYSTEM_CLOCK.now()))


def _require_rule(platform: Platform, name: str) -> None:
    require_rule(rule_tables(platform.home, load_settings().alerts), name)
