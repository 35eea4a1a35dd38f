"""What can be done to a job on a page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from penstock.jobs import control
from penstock.serve.access.role import Role
from penstock.serve.pages.acting import Question, act, agreed


@dataclass(frozen=True, slots=True)
class Action:
    """A verb, the states in which it makes sense, and what is asked before."""

    name: str
    label: str
    icon: str
    wishes: tuple[str, ...]
    work: Callable[[Path, str], object]
    done: str
    question: Question | None = None


ACTIONS = (
    Action("pause", "Pause", "pause", ("running",), control.pause, "{} is paused after its batch"),
    Action("resume", "Resume", "play_arrow", ("paused",), control.resume, "{} goes on"),
    Action("start", "Start", "play_arrow", ("stopped",), control.start, "{} is to run"),
    Action(
        "again",
        "Try again",
        "restart_alt",
        ("failed",),
        control.start,
        "{} is to be tried again",
    ),
    Action(
        "stop",
        "Stop",
        "stop",
        ("running", "paused"),
        control.stop,
        "{} is stopped after its batch",
        Question(
            "Stop {}?",
            "It ends after the batch in hand, and rests until it is started. Its place and its"
            " state are kept; what it reads from piles up meanwhile.",
            "Stop",
        ),
    ),
)


def offered(wish: str, state: str) -> tuple[Action, ...]:
    """Give the actions that make sense for a job."""
    now = "failed" if wish == "running" and state == "failed" else wish
    return tuple(action for action in ACTIONS if now in action.wishes)


async def carry_out(home: Path, name: str, action: Action) -> bool:
    """Ask where something is lost, and do it."""
    question = action.question
    if question is not None:
        asked = Question(question.title.format(name), question.consequence, question.button)
        if not await agreed(asked):
            return False
    return await act(Role.WRITER, lambda: action.work(home, name), action.done.format(name))


async def take_savepoint(home: Path, name: str) -> bool:
    """Write what a job knows into a new folder."""
    from penstock.jobs import moving  # noqa: PLC0415  # PySpark: seconds

    return await act(
        Role.WRITER, lambda: moving.savepoint(home, name), f"a savepoint of {name} is written"
    )


async def rewind(home: Path, name: str, to: str, drop_results: bool) -> bool:  # noqa: FBT001  # as it was answered
    """Let a job begin anew at a place of its input."""
    from penstock.jobs import moving  # noqa: PLC0415  # PySpark: seconds

    lost = (
        "What it has written is removed first."
        if drop_results
        else ("What it has written stays, and is written again.")
    )
    question = Question(
        f"Rewind {name} to {to}?",
        f"It forgets all that it remembers, and reads anew from there. {lost}",
        "Rewind",
    )
    if not await agreed(question):
        return False
    return await act(
        Role.WRITER,
        lambda: moving.rewind(home, name, to, drop_results=drop_results),
        f"{name} begins anew at {to}",
    )
