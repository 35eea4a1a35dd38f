"""Alerts: the rules, what they say now, and silences."""

from __future__ import annotations

import asyncio
import getpass
from typing import Final

from nicegui import ui

from penstock.clock import SYSTEM_CLOCK
from penstock.config import load_settings
from penstock.serve.access.role import Role
from penstock.serve.pages.acting import act
from penstock.serve.pages.declared import declared
from penstock.serve.pages.empty import empty
from penstock.serve.pages.frame import frame
from penstock.serve.pages.job_words import ago_text
from penstock.serve.pages.rule_form import remove_rule, rule_form
from penstock.serve.platform import Platform
from penstock.text.durations import parse_duration
from penstock.text.times import time_text
from penstock.watch.made_rules import rules_now
from penstock.watch.overview import Overview, RuleView, overview
from penstock.watch.silence import Silence, silences

_EVERY: Final = 2.0
_SHOWN: Final = 8
_LENGTHS: Final = ("15m", "1h", "4h", "1d", "7d")
_RULE: Final = """# in penstock.toml
[alerts.failing-pages]
table = "failures_per_page"
when = "failures > 10"
to = ["mail:ops@example.org"]"""


def register(platform: Platform) -> None:
    """Declare the page."""

    @declared("/alerts")
    async def alerts_page() -> None:
        with frame("Alerts", about="Rules, and what they say now") as actions:
            view = _Alerts(platform)
            view.build(await asyncio.to_thread(look, platform))
            opened = rule_form(platform, view.refresh)
            with actions:
                ui.button("New rule", icon="add_alert", on_click=opened).props("outline")


def look(platform: Platform) -> Overview:
    """Look at the rules and at what was written down."""
    rules = rules_now(platform.home, load_settings().alerts)
    return overview(platform.home, rules, platform.log, SYSTEM_CLOCK.now())


class _Alerts:
    """One visitor's view of the rules."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._seen: Overview | None = None

    def build(self, found: Overview) -> None:
        self._content = ui.element("div").classes("ps-stack")
        self._show(found)
        ui.timer(_EVERY, self.refresh)

    async def refresh(self) -> None:
        """Look again."""
        self._show(await asyncio.to_thread(look, self._platform))

    def _show(self, found: Overview) -> None:
        if found == self._seen:
            return
        self._seen = found
        self._content.clear()
        with self._content:
            if not found.rules:
                with ui.element("div").classes("ps-panel"):
                    empty(
                        "No rule is set",
                        "A rule says when something is a reason for an alert, and who is told.",
                        icon="notifications_none",
                        commands=_RULE,
                    )
                return
            self._watchers(found)
            for view in sorted(found.rules, key=_urgency):
                self._rule(view)

    @staticmethod
    def _watchers(found: Overview) -> None:
        with ui.element("div").classes("ps-row").props('role="status"'):
            if found.watched:
                ui.label("watched").classes("ps-badge good live")
            else:
                ui.label("nobody watches").classes("ps-badge warn")
                ui.label("A host does: penstock serve, or penstock host run.").classes("ps-muted")
            for name, told in found.receivers.items():
                if told.get("problem"):
                    ui.label(f"{name}: {told['problem']}").classes("ps-badge bad")

    def _rule(self, view: RuleView) -> None:
        rule = view.rule
        with ui.element("section").classes("ps-panel").props(f'aria-label="Rule {rule.name}"'):
            with ui.element("div").classes("ps-panel-head"):
                with ui.element("div").classes("ps-row"):
                    with ui.element("h2"):
                        ui.label(rule.name)
                    ui.label(_state(view)).classes(f"ps-badge {_kind(view)}")
                    if view.silences:
                        until = max(item.until for item in view.silences)
                        text = f"silent until {time_text(until, timespec='seconds')}"
                        ui.label(text).classes("ps-badge info")
                self._buttons(view)
            told = ", ".join(map(str, rule.to)) or "nobody"
            when = rule.when or "nothing comes"
            ui.label(f"on {rule.watched} {rule.place}, when {when}; told: {told}").classes(
                "ps-muted ps-wrap"
            )
            if view.problem:
                ui.label(view.problem).classes("ps-bad ps-wrap")
            now = SYSTEM_CLOCK.now()
            for alert in view.alerts[-_SHOWN:][::-1]:
                with ui.element("div").classes("ps-row"):
                    kind = "bad" if alert.state == "firing" else "warn"
                    ui.label(alert.state).classes(f"ps-badge {kind}")
                    ui.label(alert.message).classes("ps-wrap")
                    ui.label(f"for {ago_text(now - alert.since)}").classes("ps-muted ps-small")
            if len(view.alerts) > _SHOWN:
                ui.label(f"and {len(view.alerts) - _SHOWN} more").classes("ps-muted")

    def _buttons(self, view: RuleView) -> None:
        name = view.rule.name
        with ui.element("div").classes("ps-row"):
            if view.made:
                remove = ui.button("Remove", icon="delete", on_click=lambda: self._remove(name))
                remove.props(f'flat aria-label="Remove {name}"')
            if view.silences:
                ui.button("End silence", on_click=lambda: self._end(view)).props("flat")
            silence = ui.button("Silence", icon="notifications_paused")
            silence.props(f'outline aria-label="Silence {name}"')
            with silence, ui.menu():
                for length in _LENGTHS:
                    ui.menu_item(f"for {length}", lambda length=length: self._silence(name, length))

    async def _remove(self, name: str) -> None:
        if await remove_rule(self._platform, name):
            await self.refresh()

    async def _silence(self, name: str, length: str) -> None:
        now = SYSTEM_CLOCK.now()
        until = now + round(parse_duration(length).total_seconds() * 1000)
        silence = Silence(name, until, "", getpass.getuser(), "on the page of alerts")
        await act(
            Role.WRITER,
            lambda: silences(self._platform.home).add(silence, now),
            f"{name} is silent for {length}; its alerts are written down all the same",
        )
        await self.refresh()

    async def _end(self, view: RuleView) -> None:
        def end() -> None:
            for item in view.silences:
                silences(self._platform.home).end(item.rule, item.key, SYSTEM_CLOCK.now())

        await act(Role.WRITER, end, f"{view.rule.name} is told again")
        await self.refresh()


def _urgency(view: RuleView) -> tuple[int, str]:
    states = {alert.state for alert in view.alerts}
    return (0 if "firing" in states else 1 if "pending" in states else 2, view.rule.name)


def _state(view: RuleView) -> str:
    firing = sum(alert.state == "firing" for alert in view.alerts)
    pending = len(view.alerts) - firing
    parts = [f"{firing} firing"] if firing else []
    parts += [f"{pending} pending"] if pending else []
    return ", ".join(parts) or "calm"


def _kind(view: RuleView) -> str:
    if any(alert.state == "firing" for alert in view.alerts):
        return "bad"
    return "warn" if view.alerts else "good"
