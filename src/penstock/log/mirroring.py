"""Copying several topics: up to where they ended at the beginning, or for as long as they grow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass

from penstock.log.mirror import Route, TopicMirror, Witness, opened_mirror

_NAP = 1.0


@dataclass(frozen=True, slots=True)
class Copied:
    """What became of one topic."""

    topic: str
    target: str
    partitions: int
    records: int
    passed_over: int


def copy_topics(
    routes: Iterable[Route],
    *,
    tell: Callable[[Copied], None],
    witness: Witness | None = None,
) -> Iterator[Copied]:
    """Copy topics one after the other, each up to where it ends now; `tell` hears of batches."""
    for route in routes:
        with opened_mirror(route, witness=witness) as mirror:
            mirror.until(route.source.snapshot([route.topic]))
            while not mirror.reached():
                before = mirror.positions
                mirror.step()
                tell(copied(mirror))
                if mirror.positions == before:
                    # What is left is not decided yet; it was not committed when we began.
                    break
            yield copied(mirror)


def follow_topics(
    routes: Iterable[Route],
    *,
    tell: Callable[[Copied], None],
    going_on: Callable[[], bool] = lambda: True,
) -> None:
    """Copy topics of one log for as long as is wanted, whatever is written to them."""
    with ExitStack() as stack:
        mirrors = [stack.enter_context(opened_mirror(route)) for route in routes]
        while going_on():
            moved = 0
            for mirror in mirrors:
                step = mirror.step()
                moved += step
                if step:
                    tell(copied(mirror))
            if not moved and mirrors:
                positions = {at: p for mirror in mirrors for at, p in mirror.positions.items()}
                mirrors[0].route.source.wait(positions, _NAP)


def copied(mirror: TopicMirror) -> Copied:
    """Give how far a topic has come."""
    return Copied(
        mirror.source.name,
        mirror.target.name,
        mirror.source.partitions,
        mirror.records,
        mirror.passed_over,
    )
