"""Work in processes of their own: fresh memory, one core, or simply others at the same time."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import ParamSpec, TypeVar, cast

SPAWN = multiprocessing.get_context("spawn")

_Given = ParamSpec("_Given")
_Found = TypeVar("_Found")


def in_child(work: Callable[_Given, _Found], *args: _Given.args, **named: _Given.kwargs) -> _Found:
    """Give what a function of a module gives in a new process."""
    near, far = SPAWN.Pipe(duplex=False)
    child = SPAWN.Process(target=_answer, args=(far, work, args, named))
    child.start()
    far.close()
    try:
        return cast("_Found", near.recv())
    except EOFError:
        raise ChildProcessError(f"{work.__name__} failed in its process") from None
    finally:
        child.join()


def use_one_core() -> None:
    """Keep this process, with all its threads, on one core where the system can."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def _answer(
    far: Connection,
    work: Callable[..., object],
    args: tuple[object, ...],
    named: dict[str, object],
) -> None:
    far.send(work(*args, **named))
