"""Patterns: sequences of rows of a key, as the user writes them.

`step("a", condition)` is one row; methods put steps together, and each gives a new part.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from penstock.errors import ModelError
from penstock.front.dsl.expression import Operand, Subject, node_of, subject_of
from penstock.front.dsl.place import placed
from penstock.model.duration import Duration, duration_of
from penstock.model.match import PAST_LAST_ROW, Match, Rows, Skip
from penstock.model.navigation import navigations_in
from penstock.model.pattern import Pattern
from penstock.model.pattern_condition import looks_back
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
from penstock.model.relation import Relation
from penstock.model.site import user_site
from penstock.model.stateless import Named


@dataclass(frozen=True, slots=True)
class PatternPart:
    """A part of a pattern: steps, one after the other, or, so many times."""

    node: Part

    @placed
    def then(self, other: PatternPart) -> PatternPart:
        """Go on with the very next row."""
        if isinstance(_parts(self)[-1], Absent):
            raise ModelError(
                "PATTERN_NEGATION",
                "not_followed_by is followed by what comes directly after",
                hint="Use not_next, or go on with followed_by.",
            )
        return PatternPart(InOrder((*_parts(self), *_parts(other))))

    def followed_by(self, other: PatternPart) -> PatternPart:
        """Go on with the next row that `other` can begin with; rows before it are left out."""
        return self._after_gap("others", other)

    def followed_by_any(self, other: PatternPart) -> PatternPart:
        """Go on with any later row that leads to a match, the earliest one best."""
        return self._after_gap("any", other)

    @placed
    def not_next(self, other: PatternPart) -> PatternPart:
        """Let the very next row, if there is one, not be like this step."""
        return PatternPart(InOrder((*_parts(self), NotNext(_one_step(other)))))

    @placed
    def not_followed_by(self, other: PatternPart) -> PatternPart:
        """Let no row like this step come before the part that follows.

        At the end of a pattern, which then needs a time, none may come in all that time.
        """
        return PatternPart(InOrder((*_parts(self), Absent(_one_step(other)))))

    @placed
    def times(self, least: int, most: int | None = None) -> PatternPart:
        """Let it come so many times, one directly after the other; or from `least` to `most`."""
        return PatternPart(Times(self.node, least, least if most is None else most))

    def at_least(self, least: int) -> PatternPart:
        """Let it come so many times or more."""
        return PatternPart(Times(self.node, least))

    def one_or_more(self) -> PatternPart:
        """Let it come once or more."""
        return self.at_least(1)

    def zero_or_more(self) -> PatternPart:
        """Let it come any number of times, or not at all."""
        return self.at_least(0)

    def optional(self) -> PatternPart:
        """Let it come once or not at all."""
        return PatternPart(Times(self.node, 0, 1))

    @placed
    def reluctant(self) -> PatternPart:
        """Prefer as few times as lead to a match, instead of as many."""
        return PatternPart(replace(_times(self, "reluctant"), greedy=False))

    @placed
    def with_gaps(self) -> PatternPart:
        """Let other rows lie between one time and the next."""
        return PatternPart(replace(_times(self, "with_gaps"), apart=Gap()))

    @placed
    def until(self, condition: Subject) -> PatternPart:
        """Take no row for which the condition holds, nor look beyond it for the next time."""
        return PatternPart(replace(_times(self, "until"), until=subject_of(condition)))

    def hidden(self) -> PatternPart:
        """Do not give its rows where all rows of a match are given."""
        return PatternPart(Hidden(self.node))

    def __or__(self, other: PatternPart) -> PatternPart:
        """Let one of the two come; the first is preferred."""
        mine = self.node.parts if isinstance(self.node, OneOf) else (self.node,)
        return PatternPart(OneOf((*mine, other.node)))

    @placed
    def within(self, time: Duration) -> Pattern:
        """Let less than this time lie between the first row of a match and its last."""
        return Pattern(self.node, duration_of(time))

    def _after_gap(self, rows: Literal["others", "any"], other: PatternPart) -> PatternPart:
        parts = _parts(self)
        without = tuple(part.step for part in parts if isinstance(part, Absent))
        kept = tuple(part for part in parts if not isinstance(part, Absent))
        return PatternPart(InOrder((*kept, Gap(rows, without), *_parts(other))))


@placed
def step(name: str, condition: Subject | None = None) -> PatternPart:
    """One row for which a condition holds; without a condition, any row."""
    site = user_site()
    node = None if condition is None else subject_of(condition)
    for found in () if node is None else navigations_in(node):
        if found.steps == (name,) and not found.back and not looks_back(found, name):
            raise ModelError(
                "PATTERN_OWN_ROW",
                f'step "{name}" is compared with its last row, which is the row itself ({site})',
                hint=f'Use col(...) for the row itself, or last("{name}", ..., offset=1).',
            )
    return PatternPart(PatternStep(name, node, site))


@placed
def pattern(first: PatternPart, *more: PatternPart) -> PatternPart:
    """Put parts together as one, each beginning with the row after the one before."""
    return first if not more else PatternPart(InOrder((first.node, *(part.node for part in more))))


def skip_past_last_row() -> Skip:
    """Look for the next match after the last row of this one."""
    return PAST_LAST_ROW


def skip_to_next_row() -> Skip:
    """Look for a match from every row on, so that matches overlap."""
    return Skip("next row")


def skip_to_first(name: str) -> Skip:
    """Look for the next match from the first row of a step on."""
    return Skip("first", name)


def skip_to_last(name: str) -> Skip:
    """Look for the next match from the last row of a step on."""
    return Skip("last", name)


def match_step(  # the source, and all that one may say about its matches
    source: tuple[Relation, tuple[str, ...]],
    wanted: PatternPart | Pattern,
    emit: Mapping[str, Operand] | None = None,
    *,
    skip: Skip = PAST_LAST_ROW,
    rows: Rows = "one",
) -> Match:
    """Give the matches of a pattern in the rows of each key."""
    if not isinstance(wanted, PatternPart | Pattern):
        raise ModelError(
            "STEP_ARGUMENT",
            f"match is given {wanted!r}",
            hint='Give it a pattern, such as step("a", ...).then(step("b", ...)).',
        )
    if rows not in ("one", "all"):
        raise ModelError(
            "PATTERN_ROWS",
            f'a match is to give "{rows}" rows',
            hint='Give rows="one" for a row of each match, or rows="all" for all rows of it.',
        )
    relation, keys = source
    found = wanted if isinstance(wanted, Pattern) else Pattern(wanted.node)
    measures = tuple(Named(name, node_of(value)) for name, value in (emit or {}).items())
    return Match(relation, keys, found, measures, skip, rows, user_site())


def _parts(part: PatternPart) -> tuple[Part, ...]:
    return part.node.parts if isinstance(part.node, InOrder) else (part.node,)


def _one_step(part: PatternPart) -> PatternStep:
    if isinstance(part.node, PatternStep):
        return part.node
    raise ModelError(
        "PATTERN_NEGATION",
        "what is not to come is more than one step",
        hint="Give one step; join conditions by | instead of steps.",
    )


def _times(part: PatternPart, word: str) -> Times:
    if isinstance(part.node, Times):
        return part.node
    raise ModelError(
        "PATTERN_TIMES",
        f"{word} is said of a part that comes once",
        hint=f"Say first how often it comes, as in .one_or_more().{word}(...).",
    )
