"""The four questions of a result, as they are answered one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from penstock.errors import ModelError
from penstock.front.dsl.hazard import warn_of_loss
from penstock.front.dsl.place import placed
from penstock.front.dsl.program import Program
from penstock.front.dsl.refusals import must_be
from penstock.model.aggregate import Aggregate
from penstock.model.measure import Measure
from penstock.model.refine import DEFAULT_REFINEMENT, Refinement
from penstock.model.relation import Relation
from penstock.model.site import user_site
from penstock.model.trigger import Trigger
from penstock.model.window import Window


@dataclass(frozen=True, slots=True)
class Questions:
    """What was said so far of the results of rows with the same keys."""

    program: Program
    source: Relation
    keys: tuple[str, ...]
    where: Window | None = None
    when: Trigger | None = None
    how: Refinement = DEFAULT_REFINEMENT
    panes: bool = False

    @placed
    def trigger(self, trigger: Trigger) -> Self:
        """Say when results are given."""
        must_be(trigger, Trigger, "trigger", 'every("10s")')
        return replace(self, when=trigger)

    @placed
    def refine(self, refinement: Refinement) -> Self:
        """Say how the results of one group and window relate."""
        must_be(refinement, Refinement, "refine", "retracting()")
        return replace(self, how=refinement)

    def with_panes(self) -> Self:
        """Let results tell which pane they are: index, timing, first and last."""
        return replace(self, panes=True)

    def _answered(self, measures: Mapping[str, Measure]) -> Aggregate:
        """Give the step once it is said what is computed."""
        for name, measure in measures.items():
            must_be(measure, Measure, f"agg {name}=", 'sum("price")')
        if self.where is None and self.how.keep_late is not None:
            raise ModelError(
                "REFINE_WINDOW",
                "late rows are to be kept for a window, and there is none",
                hint="Add .window(...), or leave out keep_late.",
            )
        step = Aggregate(
            self.source,
            self.keys,
            tuple(replace(measure, name=name) for name, measure in measures.items()),
            self.where,
            self.when,
            self.how,
            self.panes,
            user_site(),
        )
        warn_of_loss(step)
        return step
