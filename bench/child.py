"""Work in processes of their own: fresh memory, one core, or simply others at the same time."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from typing import Any, ParamSpec, TypeAlias, TypeVar

SPAWN = multiprocessing.get_context("spawn")

_Given = ParamSpec("_Given")
_Found = TypeVar("_Found")
Work: TypeAlias = tuple[Callable[..., _Found], tuple[Any, ...]]


def in_child(work: Callable[_Given, _Found], *args: _Given.args, **named: _Given.kwargs) -> _Found:
    """Give what a function of a module gives in a new process."""
    assert not named, "only what stands in a place is handed over"
    return all_at_once([(work, args)])[0]


def all_at_once(work: Sequence[Work[_Found]]) -> list[_Found]:
    """Run each piece of work in a process of its own, all at the same time."""
    answers = []
    children = []
    for function, args in work:
        near, far = SPAWN.Pipe(duplex=False)
        child = SPAWN.Process(target=_answer, args=(far, function, args), daemon=True)
        child.start()
        # Only the child may hold the far end, so that its death is noticed at the near one.
        far.close()
        answers.append(near)
        children.append(child)
    found: list[_Found] = [near.recv() for near in answers]
    for child in children:
        child.join()
    return found


def use_one_core() -> None:
    """Keep this process, with all its threads, on one core where the system can."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def _answer(far: Connection, work: Callable[..., object], args: tuple[object, ...]) -> None:
    far.send(work(*args))
