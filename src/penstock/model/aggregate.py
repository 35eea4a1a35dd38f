"""Fold the rows of one key, and of one window, into results."""

from __future__ import annotations

from dataclasses import dataclass, field

from typing_extensions import override

from penstock.model.coherence import check_trigger, check_window
from penstock.model.measure import Measure, measure_type
from penstock.model.refine import DEFAULT_REFINEMENT, Refinement
from penstock.model.relation import OneInput, made_once
from penstock.model.trigger import DEFAULT, EACH_ROW, Trigger
from penstock.model.window import Window
from penstock.schema.schema import Field, Schema
from penstock.schema.types import BOOLEAN, INT32, STRING, TIMESTAMP

WINDOW_START = "window_start"
WINDOW_END = "window_end"
WINDOW_FIELDS = (Field(WINDOW_START, TIMESTAMP), Field(WINDOW_END, TIMESTAMP))
PANE_FIELDS = (
    Field("pane_index", INT32, nullable=False),
    Field("pane_timing", STRING, nullable=False),
    Field("pane_first", BOOLEAN, nullable=False),
    Field("pane_last", BOOLEAN, nullable=False),
)


@dataclass(frozen=True, slots=True)
class Aggregate(OneInput):
    """One row for each key, or each key and window, and its refinements.

    Where: `window`, or none for a running result. When: `trigger`. How: `refinement`.
    What: `measures`. With `panes` the results tell which pane they are.
    """

    keys: tuple[str, ...]
    measures: tuple[Measure, ...]
    window: Window | None = None
    trigger: Trigger | None = None
    refinement: Refinement = DEFAULT_REFINEMENT
    panes: bool = False
    site: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        for key in self.keys:
            self.source.schema.field(key, role="group key", site=self.site)
        for measure in self.measures:
            measure_type(measure, self.source.schema)
        known, site = self.source.schema, self.site
        check_window(self.window, known, retracts=self.source.retracts, site=site)
        check_trigger(self.trigger, self.window, known, site)
        _ = self.schema

    @property
    def when(self) -> Trigger:
        """The trigger, or the default: on time for a window, with each row without one."""
        if self.trigger is not None:
            return self.trigger
        return EACH_ROW if self.window is None else DEFAULT

    @property
    @override
    @made_once
    def schema(self) -> Schema:
        known = self.source.schema
        keys = tuple(known.field(key) for key in self.keys)
        bounds = () if self.window is None else WINDOW_FIELDS
        results = tuple(Field(m.name, measure_type(m, known)) for m in self.measures)
        return Schema(keys + bounds + results + (PANE_FIELDS if self.panes else ()))

    @property
    @override
    def retracts(self) -> bool:
        return self.refinement.mode == "retracting"
