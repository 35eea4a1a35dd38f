"""When in processing time results are given out: triggers, and sentences made of them.

A trigger fires once and is finished, unless `Repeat` starts it again. `WhenClosed` repeats
its early and late part by itself. The semantics are those of the Dataflow model.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

from penstock.errors import ModelError
from penstock.model.expr import Expr


@dataclass(frozen=True, slots=True)
class AfterWatermark:
    """Once, when the watermark reaches the end of the window."""


@dataclass(frozen=True, slots=True)
class AfterRows:
    """Once `count` rows have come; not `exact` lets a batch bring more before it is asked."""

    count: int
    exact: bool = True

    def __post_init__(self) -> None:
        if self.count <= 0:
            raise ModelError(
                "TRIGGER_COUNT", f"a trigger after {self.count} rows", hint="Give one above 0."
            )


@dataclass(frozen=True, slots=True)
class AfterDelay:
    """Once the clock is `delay` past the pane's first row, rounded up to `align` if given.

    `align` counts from `origin` after midnight, 1 January 1970.
    """

    delay: timedelta
    align: timedelta | None = None
    origin: timedelta = timedelta(0)


@dataclass(frozen=True, slots=True)
class AfterEventTime:
    """Once the watermark passes the next multiple of `period` after the pane's first row."""

    period: timedelta


@dataclass(frozen=True, slots=True)
class AfterRow:
    """Once a row comes for which `condition` holds."""

    condition: Expr


@dataclass(frozen=True, slots=True)
class Always:
    """Whenever it is asked: after every batch with news, and with every clock or watermark."""


@dataclass(frozen=True, slots=True)
class Never:
    """Not before the window leaves."""


@dataclass(frozen=True, slots=True)
class WhenWatermark:
    """Whenever it is asked once the watermark has reached the window's end; never finished."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """The same again and again."""

    trigger: Trigger


@dataclass(frozen=True, slots=True)
class AnyOf:
    """As soon as one of them would fire; finished when one of them is."""

    triggers: tuple[Trigger, ...]


@dataclass(frozen=True, slots=True)
class AllOf:
    """As soon as all of them would have fired."""

    triggers: tuple[Trigger, ...]


@dataclass(frozen=True, slots=True)
class Sequence:
    """One after the other, each until it is finished."""

    triggers: tuple[Trigger, ...]


@dataclass(frozen=True, slots=True)
class Until:
    """A trigger that is ended for good by another one, which fires too."""

    trigger: Trigger
    until: Trigger


@dataclass(frozen=True, slots=True)
class WhenClosed:
    """On time, when the watermark passes the window's end; early before, late after.

    Without `late` the window is finished with its on-time pane, and rows that come later
    are late rows.
    """

    early: Trigger | None = None
    late: Trigger | None = None


Trigger: TypeAlias = (
    AfterWatermark
    | AfterRows
    | AfterDelay
    | AfterEventTime
    | AfterRow
    | Always
    | Never
    | WhenWatermark
    | Repeat
    | AnyOf
    | AllOf
    | Sequence
    | Until
    | WhenClosed
)

DEFAULT: Trigger = WhenWatermark()
"""On time, and again with every row that is late but still allowed."""
EACH_ROW: Trigger = Repeat(AfterRows(1))
