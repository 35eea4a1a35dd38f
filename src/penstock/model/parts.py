"""The triggers that a trigger is made of."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.model.trigger import AllOf, AnyOf, Repeat, Sequence, Trigger, Until, WhenClosed


def triggers_in(trigger: Trigger) -> Iterator[Trigger]:
    """Give a trigger and all it is made of."""
    yield trigger
    for part in parts_of(trigger):
        yield from triggers_in(part)


def parts_of(trigger: Trigger) -> tuple[Trigger, ...]:
    """Give the triggers that one is directly made of."""
    match trigger:
        case Repeat(repeated):
            return (repeated,)
        case AnyOf(parts) | AllOf(parts) | Sequence(parts):
            return parts
        case Until(main, end):
            return (main, end)
        case WhenClosed(early, late):
            return tuple(part for part in (early, late) if part is not None)
        case _:
            return ()
