"""What a sequence of rows must be like to match."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from penstock.errors import ModelError
from penstock.model.duration import duration_text
from penstock.model.pattern_check import check_parts
from penstock.model.pattern_part import Part, PatternStep, steps_in

_NO_TIME = timedelta(0)


@dataclass(frozen=True, slots=True)
class Pattern:
    """Parts in order; the last row of a match comes less than `within` after its first.

    Of all ways in which rows from one on match, one is preferred, as a regular expression
    does: the earlier alternative, and more or fewer repetitions as these say.
    """

    body: Part
    within: timedelta | None = None

    def __post_init__(self) -> None:
        if self.within is not None and self.within <= _NO_TIME:
            raise ModelError(
                "PATTERN_WITHIN",
                f"a match is to take less than {duration_text(self.within)}",
                hint='Give a time above 0, such as "1 minute".',
            )
        check_parts(self.body, bounded=self.within is not None)

    @property
    def steps(self) -> tuple[PatternStep, ...]:
        """The steps that rows are taken by, in order."""
        return steps_in(self.body)
