"""Dead letters: what could not be worked on and why, and how it is sent again."""

from __future__ import annotations

import asyncio
from itertools import islice
from typing import Any, Final

from nicegui import events, ui

from penstock.jobs.dead_letters import Letter, Pile, letters, piles, require_dead_topic
from penstock.jobs.replay import Replayed, Selection, replay
from penstock.log.embedded.log import EmbeddedLog
from penstock.serve.access.role import Role
from penstock.serve.pages.acting import Question, act, agreed
from penstock.serve.pages.declared import declared
from penstock.serve.pages.empty import empty
from penstock.serve.pages.frame import frame
from penstock.serve.pages.job_words import NOTHING
from penstock.serve.pages.letter_panel import letter_panel
from penstock.serve.platform import Platform
from penstock.text.times import time_text

_MOST: Final = 500
_SHORT: Final = 300
_PILES: Final = [
    {"name": "topic", "label": "Topic", "field": "topic", "align": "left"},
    {"name": "reason", "label": "Reason", "field": "reason", "align": "left"},
    {"name": "step", "label": "Step", "field": "step", "align": "left",
     "classes": "ps-wide", "headerClasses": "ps-wide"},
    {"name": "source", "label": "Records of", "field": "source", "align": "left",
     "classes": "ps-wide", "headerClasses": "ps-wide"},
    {"name": "letters", "label": "Letters", "field": "letters", "align": "right"},
    {"name": "replayed", "label": "Replayed", "field": "replayed", "align": "right"},
]  # fmt: skip
_LETTERS: Final = [
    {"name": "offset", "label": "Offset", "field": "offset", "align": "right"},
    {"name": "time", "label": "Time (UTC)", "field": "time", "align": "left"},
    {"name": "error", "label": "Error", "field": "error", "align": "left"},
    {"name": "sent", "label": "", "field": "sent", "align": "left"},
]
_PICK: Final = """<q-td :props="props"><button type="button" class="ps-cell-button ps-strong"
 @click="() => $parent.$emit('pick', props.row.id)">{{ props.value }}</button></q-td>"""
_SENT: Final = """<q-td :props="props"><span v-if="props.row.sent" class="ps-badge good">replayed
</span></q-td>"""


def register(platform: Platform) -> None:
    """Declare the page."""

    @declared("/dead-letters")
    async def dead_letters_page(topic: str = "") -> None:
        about = "Rows that a step could not work on, put aside with the reason"
        with frame("Dead letters", about=about):
            if topic:
                require_dead_topic(platform.log, topic)
            found = await asyncio.to_thread(piles, platform.log)
            _DeadLetters(platform.log, found).build(topic)


def some_letters(log: EmbeddedLog, pile: Pile) -> list[Letter]:
    """Give the letters of a pile, some hundred at most."""
    meant = (
        letter
        for letter in letters(log, pile.topic)
        if letter.reason == pile.reason
        and letter.step == pile.step
        and (letter.source.topic or "") == pile.source
    )
    return list(islice(meant, _MOST))


def replayed_text(done: Replayed) -> str:
    """Say what became of letters that were to be sent."""
    parts = [f"{done.records:,} sent again"]
    parts += [f"{done.before:,} had been sent before"] if done.before else []
    parts += [f"{done.rowless:,} do not know their record"] if done.rowless else []
    parts += [f"{done.gone:,} are gone from the log"] if done.gone else []
    return "; ".join(parts)


class _DeadLetters:
    """One visitor's view of the letters."""

    def __init__(self, log: EmbeddedLog, found: list[Pile]) -> None:
        self._log = log
        self._piles = {str(number): pile for number, pile in enumerate(found)}
        self._pile: Pile | None = None
        self._letters: dict[str, Letter] = {}

    def build(self, topic: str) -> None:
        if not self._piles:
            with ui.element("div").classes("ps-panel"):
                empty(
                    "There are no dead letters",
                    "A row that a step cannot work on is put here instead of ending its job.",
                    icon="mark_email_read",
                )
            return
        with ui.element("section").classes("ps-panel ps-flush").props('aria-label="Reasons"'):
            self._pile_table = ui.table(columns=_PILES, rows=self._pile_rows(), row_key="id")
            self._pile_table.props("flat").add_slot("body-cell-reason", _PICK)
            self._pile_table.on("pick", self._pile_picked)
        self._letter_part = ui.element("div").classes("ps-stack")
        first = next((key for key, pile in self._piles.items() if pile.topic == topic), "0")
        ui.timer(0.05, lambda: self._choose_pile(first), once=True)

    def _pile_rows(self) -> list[dict[str, Any]]:
        return [
            {
                "id": key,
                "topic": pile.topic,
                "reason": pile.reason,
                "step": pile.step,
                "source": pile.source or NOTHING,
                "letters": pile.letters,
                "replayed": pile.replayed,
            }
            for key, pile in self._piles.items()
        ]

    async def _pile_picked(self, event: events.GenericEventArguments) -> None:
        await self._choose_pile(str(event.args))

    async def _choose_pile(self, key: str) -> None:
        pile = self._pile = self._piles[key]
        found = await asyncio.to_thread(some_letters, self._log, pile)
        self._letters = {f"{one.partition}-{one.offset}": one for one in found}
        self._letter_part.clear()
        with self._letter_part:
            self._build_letters(pile)
        if self._letters:
            self._show_letter(next(iter(self._letters)))

    def _build_letters(self, pile: Pile) -> None:
        with ui.element("div").classes("ps-two ps-letters"):
            with ui.element("section").classes("ps-panel ps-flush").props('aria-label="Letters"'):
                with ui.element("div").classes("ps-panel-head"):
                    with ui.element("h2"):
                        ui.label(f"{pile.reason} in {pile.topic}").classes("ps-wrap")
                    everything = ui.button("Replay all", icon="replay", on_click=self._replay_all)
                    everything.props("unelevated")
                table = ui.table(
                    columns=_LETTERS,
                    rows=[_row(key, letter) for key, letter in self._letters.items()],
                    row_key="id",
                    pagination=15,
                ).props("flat dense")
                table.add_slot("body-cell-error", _PICK)
                table.add_slot("body-cell-sent", _SENT)
                table.on("pick", lambda event: self._show_letter(str(event.args)))
            with ui.element("section").classes("ps-panel").props('aria-label="Letter"'):
                self._panel = ui.element("div").classes("ps-stack")

    def _show_letter(self, key: str) -> None:
        letter = self._letters[key]
        self._panel.clear()
        with self._panel:
            letter_panel(letter)
            one = ui.button(
                "Replay this one", icon="replay", on_click=lambda: self._replay_one(letter)
            )
            one.props("outline")
            one.set_enabled(not letter.replayed)

    async def _replay_one(self, letter: Letter) -> None:
        source = letter.source
        await self._replay(
            f"Send this record again to {source.topic}?",
            Selection(
                topic=source.topic, reason=letter.reason, offsets=lambda at: at == letter.offset
            ),
        )

    async def _replay_all(self) -> None:
        if self._pile is not None:
            pile = self._pile
            waiting = pile.letters - pile.replayed
            await self._replay(
                f"Send {waiting:,} records again?",
                Selection(topic=pile.source or None, reason=pile.reason),
            )

    async def _replay(self, title: str, selection: Selection) -> None:
        pile = self._pile
        if pile is None:
            return
        question = Question(
            title,
            "The records go back to the topics they came from, at their ends. Each is sent once,"
            " however often this is asked for; who reads those topics sees them again.",
            "Replay",
            danger=False,
        )
        if not await agreed(question):
            return
        told: list[Replayed] = []
        if await act(
            Role.WRITER, lambda: told.append(replay(self._log, pile.topic, selection)), "replayed"
        ):
            ui.notify(replayed_text(told[0]), type="positive")
            found = await asyncio.to_thread(piles, self._log)
            self._piles = {str(number): item for number, item in enumerate(found)}
            self._pile_table.rows = self._pile_rows()
            key = next(
                (key for key, item in self._piles.items()
                 if (item.topic, item.reason, item.step) == (pile.topic, pile.reason, pile.step)),
                "0",
            )  # fmt: skip
            await self._choose_pile(key)


def _row(key: str, letter: Letter) -> dict[str, Any]:
    when = NOTHING if letter.time is None else time_text(letter.time, timespec="seconds")
    return {
        "id": key,
        "offset": letter.offset,
        "time": when.replace("T", " ").removesuffix("Z"),
        "error": letter.error.partition("\n")[0].removeprefix(f"[{letter.reason}] ")[:_SHORT],
        "sent": letter.replayed,
    }
