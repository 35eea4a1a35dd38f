"""EMIT as triggers and refinements of the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from penstock.errors import ModelError, SqlError
from penstock.front.sql import tree_emit as tree
from penstock.front.sql.expression import Resolver
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.tree import Duration
from penstock.front.sql.tree_expression import Expression
from penstock.model.refine import Refinement
from penstock.model.trigger import (
    EACH_ROW,
    AfterDelay,
    AfterEventTime,
    AfterRow,
    AfterRows,
    AfterWatermark,
    AllOf,
    Always,
    AnyOf,
    Never,
    Repeat,
    Sequence,
    Trigger,
    Until,
    WhenClosed,
    WhenWatermark,
)

EACH_BATCH: Trigger = Repeat(AfterRows(1, exact=False))
"""Once a batch that brought rows."""
KSQL_MODES = ("changes", "final")
_NONE = timedelta(0)


@dataclass(frozen=True, slots=True)
class Emission:
    """When results are given, where that is said, and how they relate."""

    trigger: Trigger | None
    refinement: Refinement


def is_ksql(emit: tree.Emit | None) -> bool:
    """Whether a query says no more than ksqlDB lets it say: nothing, CHANGES or FINAL."""
    return emit is None or emit.mode in KSQL_MODES


def emission_of(emit: tree.Emit, grace: Duration | None, resolver: Resolver) -> Emission:
    """Read EMIT with triggers; `grace` is what the window says about late rows."""
    text = resolver.scope.text
    assert emit.mode != "changes"
    assert emit.mode != "final"
    late = emit.keep_late
    if late is not None and grace is not None and late.delta != grace.delta:
        raise SqlError(
            "SQL_EMIT",
            text.shown("how long late rows are waited for is said twice", late.span),
            hint="Say GRACE PERIOD in the window, or KEEP LATE here.",
        )
    said = late or grace
    refinement = Refinement(
        "accumulating" if emit.mode is None else emit.mode,
        None if said is None else said.delta,
        empty_on_time=emit.empty_on_time is not False,
        empty_final=emit.empty_final is True,
        stamp=emit.stamp or "end",
    )
    return Emission(_whole(emit, resolver), refinement)


def refuse_triggers(emit: tree.Emit | None, text: SourceText) -> None:
    """Refuse EMIT with triggers, and FINAL, where there are no groups to be given out."""
    if emit is None or emit.mode == "changes":
        return
    if emit.mode == "final":
        raise SqlError(
            "SQL_EMIT",
            text.shown("EMIT FINAL is asked for without GROUP BY and WINDOW", emit.span),
            hint="Rows that are not grouped are final as they come: leave it out.",
        )
    raise SqlError(
        "SQL_EMIT",
        text.shown("a trigger is given to rows that are not grouped", emit.span),
        hint="Every row is given as it comes: use EMIT CHANGES, or add GROUP BY.",
    )


def _whole(emit: tree.Emit, resolver: Resolver) -> Trigger | None:
    reading = _Reading(resolver)
    if emit.early is not None or emit.late is not None:
        early = None if emit.early is None else _once(reading.trigger(emit.early))
        late = None if emit.late is None else _once(reading.trigger(emit.late))
        return WhenClosed(early, late)
    return None if emit.trigger is None else reading.trigger(emit.trigger)


def _once(trigger: Trigger) -> Trigger:
    # Both parts of WHEN CLOSED are repeated by itself.
    return trigger.trigger if isinstance(trigger, Repeat) else trigger


class _Reading:
    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver

    def trigger(self, said: tree.Trigger) -> Trigger:
        plain = _PLAIN.get(type(said))
        if plain is not None:
            return plain
        try:
            return self._made(said)
        except ModelError as refusal:
            fact = self._resolver.scope.text.shown(refusal.fact, said.span)
            raise SqlError("SQL_EMIT", fact, hint=refusal.hint) from refusal

    def _made(self, said: tree.Trigger) -> Trigger:
        match said:
            case tree.Repeat(inner):
                made = self.trigger(inner)
                return made if isinstance(made, Repeat) else Repeat(made)
            case tree.Several(how, parts):
                return _SEVERAL[how](tuple(self.trigger(part) for part in parts))
            case tree.Until(inner, end):
                return Until(self.trigger(inner), self.trigger(end))
            case tree.EachRow(condition) | tree.AfterRow(condition):
                return self._by_row(said, condition)
            case _:
                return self._measured(said)

    def _by_row(self, said: tree.Trigger, condition: Expression | None) -> Trigger:
        if condition is None:
            return EACH_ROW
        made = AfterRow(self._resolver.condition(condition, "EMIT").expr)
        return made if isinstance(said, tree.AfterRow) else Repeat(made)

    def _measured(self, said: tree.Trigger) -> Trigger:
        match said:
            case tree.EveryRows(count):
                return Repeat(AfterRows(count))
            case tree.AfterRows(count):
                return AfterRows(count)
            case tree.EveryPeriod(period, _, True):
                return Repeat(AfterEventTime(self._above_zero(period)))
            case tree.EveryPeriod(period, offset):
                begin = _NONE if offset is None else offset.delta
                return Repeat(AfterDelay(_NONE, self._above_zero(period), begin))
            case tree.AfterDelay(delay):
                return AfterDelay(self._above_zero(delay))
            case _:
                raise AssertionError(said)

    def _above_zero(self, span: Duration) -> timedelta:
        if span.delta <= _NONE:
            raise SqlError(
                "SQL_EMIT",
                self._resolver.scope.text.shown(f"a trigger waits {span.delta}", span.span),
                hint="Give a time above 0.",
            )
        return span.delta


_PLAIN: Mapping[type, Trigger] = {
    tree.WhenClosed: WhenClosed(),
    tree.WhenComplete: WhenWatermark(),
    tree.AfterWatermark: AfterWatermark(),
    tree.EachBatch: EACH_BATCH,
    tree.Always: Always(),
    tree.Never: Never(),
}
_SEVERAL: Mapping[str, Callable[[tuple[Trigger, ...]], Trigger]] = {
    "any": AnyOf,
    "all": AllOf,
    "sequence": Sequence,
}
