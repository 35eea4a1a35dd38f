"""Things that need one another, done in an order that works, where there is one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from penstock.errors import PenstockError

Item = TypeVar("Item")
Refusal = TypeVar("Refusal", bound=PenstockError)


def done_in_working_order(
    items: Iterable[Item], do: Callable[[Item], object], refusal: type[Refusal]
) -> list[tuple[Item, Refusal]]:
    """Do each of several things, and again what was refused for as long as others get done.

    Gives those that no order lets be done, and why.
    """
    waiting = list(items)
    while waiting:
        refused: list[tuple[Item, Refusal]] = []
        for item in waiting:
            try:
                do(item)
            except refusal as why:
                refused.append((item, why))
        if len(refused) == len(waiting):
            return refused
        waiting = [item for item, _ in refused]
    return []
