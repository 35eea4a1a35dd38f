"""What may be run and yet be not what was meant: said by explain, and never refused."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from penstock.model.aggregate import Aggregate
from penstock.model.dedup import Dedup
from penstock.model.hazard import may_lose_data
from penstock.model.join import Join
from penstock.model.join_bound import Whole
from penstock.model.match import Match
from penstock.model.plan import Plan
from penstock.model.refine import FOREVER
from penstock.model.relation import Relation
from penstock.model.table_key import table_key
from penstock.model.trigger import AfterWatermark, Never, WhenClosed, WhenWatermark
from penstock.model.window import Global
from penstock.plan.step_text import step_text


def cautions(program: Plan) -> tuple[str, ...]:
    """Give a sentence for each thing that a user should know before it runs for long."""
    found = (sentence for step in program.walk() for sentence in _of(step))
    return tuple(dict.fromkeys(found))


def _of(step: Relation) -> Iterator[str]:
    if isinstance(step, Aggregate):
        yield from _of_aggregate(step)
    if isinstance(step, Dedup) and step.within is None:
        yield f"{_named(step)} remembers every key for ever: give it a time to look back."
    if isinstance(step, Join) and isinstance(step.bound, Whole):
        yield from _of_tables(step)
    if isinstance(step, Match) and step.pattern.within is None:
        yield f"{_named(step)} may wait for ever for the end of a match: give it a time."


def _of_tables(step: Join) -> Iterator[str]:
    left, right = table_key(step.left) or (), table_key(step.right) or ()
    if not set(left) <= set(step.left_keys) and not set(right) <= set(step.right_keys):
        yield (
            f"{_named(step)} gives every left row with every right row of a key: n and m rows"
            " make n x m, as 1,000 and 1,000 make 1,000,000. Join on the key of one of them."
        )


def _of_aggregate(step: Aggregate) -> Iterator[str]:
    if isinstance(step.window, Global) and _waits_for_the_end(step):
        yield (
            f"{_named(step)} gives nothing out before its input ends, which a stream does not:"
            " add a trigger, such as every so many rows."
        )
    if step.window is not None and step.refinement.keep_late == FOREVER:
        yield f"{_named(step)} keeps every window for ever: give late rows an end."
    kept = step.refinement.keep_late or timedelta(0)
    if may_lose_data(step.when, keep_late=kept, window=step.window):
        yield (
            f"{_named(step)} ends its trigger while rows may still come, which are then late:"
            " repeat it, or go on with another."
        )


def _waits_for_the_end(step: Aggregate) -> bool:
    match step.when:
        case AfterWatermark() | WhenWatermark() | Never():
            return True
        case WhenClosed(early):
            return early is None
        case _:
            return False


def _named(step: Aggregate | Dedup | Join | Match) -> str:
    return f"{step_text(step)} ({step.site})" if step.site else step_text(step)
