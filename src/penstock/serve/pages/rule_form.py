"""The form in which a rule is made."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from nicegui import ui

from penstock.config import load_settings
from penstock.serve.access.role import Role
from penstock.serve.pages.acting import Question, act, agreed
from penstock.serve.platform import Platform
from penstock.watch.made_rules import made_rules

_WATCHED = ("table", "stream", "metric", "job")
_TEXTS: Mapping[str, str] = {
    "when": "When, such as failures > 10",
    "for": "For how long, such as 1 minute",
    "clear": "Over when, such as failures < 5",
    "message": "Message, such as {page} has {failures} failures",
    "to": "Tell, such as mail:ops@example.org",
}


def rule_form(platform: Platform, done: Callable[[], Awaitable[None]]) -> Callable[[], object]:
    """Make the form, and give what opens it."""
    with ui.dialog() as dialog, ui.card().props('aria-label="New rule"').classes("ps-stack"):
        with ui.element("h2"):
            ui.label("New rule")
        name = ui.input("Name").props("outlined dense").classes("w-full")
        with ui.element("div").classes("ps-toolbar"):
            watched = ui.select(list(_WATCHED), value="table", label="On").props("outlined dense")
            place = ui.input("Its name").props("outlined dense").classes("ps-grow")
        texts = {
            word: ui.input(label).props("outlined dense").classes("w-full")
            for word, label in _TEXTS.items()
        }

        async def make() -> None:
            said = {word: field.value or "" for word, field in texts.items()}
            words = rule_words(watched.value, place.value or "", said)
            called = (name.value or "").strip()

            def put() -> None:
                made_rules(platform.home).put(called, words, load_settings().alerts)

            if await act(Role.ADMIN, put, f"{called} is watched from now on"):
                dialog.close()
                await done()

        with ui.element("div").classes("ps-row").style("justify-content: flex-end; width: 100%"):
            ui.button("Cancel", on_click=dialog.close).props("flat")
            ui.button("Make", on_click=make).props("unelevated")
    return dialog.open


def rule_words(watched: str, place: str, said: Mapping[str, str]) -> dict[str, str | list[str]]:
    """Give the words of a rule as `[alerts.NAME]` has them; what was left empty is left out."""
    words: dict[str, str | list[str]] = {watched: place.strip()}
    words |= {word: text.strip() for word, text in said.items() if word != "to"}
    words["to"] = [item.strip() for item in said.get("to", "").split(",") if item.strip()]
    return {word: value for word, value in words.items() if value}


async def remove_rule(platform: Platform, name: str) -> bool:
    """Ask, and forget a rule that was made here."""
    question = Question(
        f"Remove rule {name}?",
        "Nobody looks at it any more. What was written down of its alerts stays.",
        "Remove",
    )
    if not await agreed(question):
        return False
    return await act(
        Role.ADMIN,
        lambda: made_rules(platform.home).remove(name, load_settings().alerts),
        f"{name} is removed",
    )
