"""PATTERN: what follows what, as parts of the model."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.errors import SqlError
from penstock.front.sql.match.value import PatternValues
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.tree import Name
from penstock.front.sql.tree_pattern import (
    PatternChoice,
    PatternGap,
    PatternHidden,
    PatternNot,
    PatternPart,
    PatternRepeat,
    PatternSequence,
    PatternVariable,
)
from penstock.model.expr import Expr
from penstock.model.pattern_part import (
    Absent,
    Gap,
    Hidden,
    InOrder,
    NotNext,
    OneOf,
    Part,
    PatternStep,
    Times,
)


class PatternShape:
    """Makes the parts of a pattern, whose variables have these conditions."""

    def __init__(
        self, conditions: Mapping[str, Expr], values: PatternValues, text: SourceText
    ) -> None:
        self._conditions = conditions
        self._values = values
        self._text = text

    def part(self, said: PatternPart) -> Part:
        """Give a part of the model."""
        match said:
            case PatternVariable(name) | PatternNot(name):
                step = self._step(name)
                return NotNext(step) if isinstance(said, PatternNot) else step
            case PatternSequence(parts):
                return InOrder(tuple(self._in_order(parts)))
            case PatternChoice(parts):
                return OneOf(tuple(self.part(item) for item in parts))
            case PatternRepeat():
                return self._repeated(said)
            case PatternHidden(inner):
                return Hidden(self.part(inner))
            case PatternGap(rows):
                return Gap(rows)

    def _step(self, name: Name) -> PatternStep:
        return PatternStep(name.text, self._conditions.get(name.text), "PATTERN")

    def _repeated(self, said: PatternRepeat) -> Times:
        until = None if said.until is None else self._values.condition(said.until)
        apart = Gap() if said.gaps else None
        return Times(self.part(said.part), said.least, said.most, said.greedy, apart, until)

    def _in_order(self, parts: tuple[PatternPart, ...]) -> list[Part]:
        """Put parts after one another; what is not to come belongs to the arrow after it."""
        made: list[Part] = []
        gap: PatternGap | None = None
        absent: list[PatternStep] = []
        for said in parts:
            if isinstance(said, PatternGap):
                gap = said
                continue
            if isinstance(said, PatternNot) and gap is not None:
                absent.append(self._step(said.name))
                gap = None
                continue
            if absent and gap is None:
                raise SqlError(
                    "SQL_PATTERN",
                    self._text.shown(
                        "an arrow and NOT stand before what follows directly", said.span
                    ),
                    hint="Go on with another arrow: a -> NOT b -> c.",
                )
            if gap is not None:
                made.append(Gap(gap.rows, tuple(absent)))
            made.append(self.part(said))
            gap, absent = None, []
        return [*made, *map(Absent, absent)]
