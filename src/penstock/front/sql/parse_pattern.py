"""From what the grammar gave to MATCH_RECOGNIZE."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.front.sql.parse_branch import (
    branch_at,
    branches,
    has,
    inner,
    inners,
    integer_in,
    name_in,
    span_of,
    token_at,
)
from penstock.front.sql.parse_window import WindowBuilder
from penstock.front.sql.tree import Duration
from penstock.front.sql.tree_pattern import (
    MatchClause,
    PatternChoice,
    PatternDefinition,
    PatternGap,
    PatternHidden,
    PatternMeasure,
    PatternNot,
    PatternPart,
    PatternRepeat,
    PatternSequence,
    PatternSkip,
    PatternVariable,
)

if TYPE_CHECKING:
    from penstock.front.sql.parse_grammar import Branch


class PatternBuilder(WindowBuilder):
    """Makes patterns."""

    def match_clause(self, branch: Branch) -> MatchClause:
        """Make what stands in the brackets of MATCH_RECOGNIZE."""
        partition, order = inner(branch, "match_partition"), inner(branch, "order_by")
        measures, definitions = inner(branch, "measures"), inner(branch, "definitions")
        within, grace = self._times_of_match(inner(branch, "match_within"))
        return MatchClause(
            self._pattern(inners(branch, "pattern_choice")[0]),
            () if definitions is None else tuple(map(self._definition, branches(definitions))),
            () if measures is None else tuple(map(self._measure, branches(measures))),
            () if partition is None else self.expressions(branches(partition)),
            () if order is None else self.sort_items(order),
            "all" if has(branch, "all_rows") else "one",
            self._skip(branch),
            within,
            grace,
            span=span_of(branch),
        )

    def _times_of_match(self, branch: Branch | None) -> tuple[Duration | None, Duration | None]:
        """Give how long a match may take, and how late its rows may be."""
        if branch is None:
            return None, None
        times = [part for part in branches(branch) if part.data != "grace"]
        grace = inner(branch, "grace")
        return (
            self.duration(times[0]) if times else None,
            None if grace is None else self.duration(branch_at(grace, 0)),
        )

    def _definition(self, branch: Branch) -> PatternDefinition:
        name, condition = branches(branch)
        return PatternDefinition(name_in(name), self.expression(condition), span=span_of(branch))

    def _measure(self, branch: Branch) -> PatternMeasure:
        expression, name = branches(branch)
        final = branch.data == "final_measure"
        return PatternMeasure(
            self.expression(expression), name_in(name), final, span=span_of(branch)
        )

    def _skip(self, branch: Branch) -> PatternSkip | None:
        for part in branches(branch):
            match part.data:
                case "skip_past_last_row":
                    return PatternSkip("past last row", span=span_of(part))
                case "skip_to_next_row":
                    return PatternSkip("next row", span=span_of(part))
                case "skip_to_first":
                    return PatternSkip("first", name_in(branch_at(part, 0)), span=span_of(part))
                case "skip_to_last":
                    return PatternSkip("last", name_in(branch_at(part, 0)), span=span_of(part))
                case _:
                    continue
        return None

    def _pattern(self, branch: Branch) -> PatternPart:
        made: PatternPart = getattr(self, f"_{branch.data}")(branch)
        return made

    def _pattern_choice(self, branch: Branch) -> PatternPart:
        parts = tuple(map(self._pattern, branches(branch)))
        return parts[0] if len(parts) == 1 else PatternChoice(parts, span=span_of(branch))

    def _pattern_sequence(self, branch: Branch) -> PatternPart:
        parts = tuple(map(self._pattern, branches(branch)))
        return parts[0] if len(parts) == 1 else PatternSequence(parts, span=span_of(branch))

    def _pattern_variable(self, branch: Branch) -> PatternVariable:
        return PatternVariable(name_in(branch_at(branch, 0)), span=span_of(branch))

    def _pattern_not(self, branch: Branch) -> PatternNot:
        return PatternNot(name_in(branch_at(branch, 0)), span=span_of(branch))

    def _gap_of_others(self, branch: Branch) -> PatternGap:
        return PatternGap("others", span=span_of(branch))

    def _gap_of_any(self, branch: Branch) -> PatternGap:
        return PatternGap("any", span=span_of(branch))

    def _pattern_hidden(self, branch: Branch) -> PatternHidden:
        return PatternHidden(self._pattern(branch_at(branch, 0)), span=span_of(branch))

    def _pattern_repeat(self, branch: Branch) -> PatternRepeat:
        part, quantifier, *_ = branches(branch)
        least, most = self._times(quantifier)
        until = inner(branch, "pattern_until")
        return PatternRepeat(
            self._pattern(part),
            least,
            most,
            greedy=not has(branch, "reluctant"),
            gaps=has(branch, "with_gaps"),
            until=None if until is None else self.expression(branch_at(until, 0)),
            span=span_of(branch),
        )

    def _times(self, branch: Branch) -> tuple[int, int | None]:
        match branch.data:
            case "zero_or_more":
                return 0, None
            case "one_or_more":
                return 1, None
            case "optional":
                return 0, 1
            case "exactly":
                times = integer_in(self.source, token_at(branch))
                return times, times
            case _:
                least, most = (
                    integer_in(self.source, it) if isinstance(it, str) else None
                    for it in branch.children
                )
                return least or 0, most
