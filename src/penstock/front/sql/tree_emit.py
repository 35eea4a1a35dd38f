"""EMIT: when results are given out, and how they relate.

    EMIT CHANGES | FINAL
    EMIT [DISCARDING | ACCUMULATING | RETRACTING] option, ...

An option is a trigger, EARLY trigger, LATE trigger, KEEP LATE duration, STAMP END | EARLIEST |
LATEST, [NO] EMPTY ON TIME, [NO] EMPTY FINAL. EARLY and LATE belong to WHEN CLOSED, which may be
left out before them. Each trigger below shows how it is written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from penstock.front.sql.tree import Duration, Node
from penstock.front.sql.tree_expression import Expression


@dataclass(frozen=True, slots=True)
class WhenClosed(Node):
    """WHEN CLOSED: when the watermark passes the end of the window."""


@dataclass(frozen=True, slots=True)
class WhenComplete(Node):
    """WHEN COMPLETE: when closed, and again with every late row that is allowed."""


@dataclass(frozen=True, slots=True)
class AfterWatermark(Node):
    """AFTER WATERMARK: once, when the watermark passes the end of the window."""


@dataclass(frozen=True, slots=True)
class EachRow(Node):
    """EACH ROW [WHERE condition]: with every row, or every one for which a condition holds."""

    condition: Expression | None = None


@dataclass(frozen=True, slots=True)
class AfterRow(Node):
    """AFTER ROW WHERE condition: once, with the first row for which it holds."""

    condition: Expression


@dataclass(frozen=True, slots=True)
class EachBatch(Node):
    """EACH BATCH: once a batch that brought rows."""


@dataclass(frozen=True, slots=True)
class EveryRows(Node):
    """EVERY n ROWS: again and again."""

    count: int


@dataclass(frozen=True, slots=True)
class AfterRows(Node):
    """AFTER n ROWS: once."""

    count: int


@dataclass(frozen=True, slots=True)
class EveryPeriod(Node):
    """EVERY duration [OFFSET duration] [OF EVENT TIME]: by the clock, or by the watermark."""

    period: Duration
    offset: Duration | None = None
    event_time: bool = False


@dataclass(frozen=True, slots=True)
class AfterDelay(Node):
    """AFTER duration: once, so long after the first new row."""

    delay: Duration


@dataclass(frozen=True, slots=True)
class Always(Node):
    """ALWAYS: whenever it is asked."""


@dataclass(frozen=True, slots=True)
class Never(Node):
    """NEVER: not before the window leaves."""


@dataclass(frozen=True, slots=True)
class Repeat(Node):
    """REPEAT (trigger): the same again and again."""

    trigger: Trigger


@dataclass(frozen=True, slots=True)
class Several(Node):
    """ANY OF (triggers), ALL OF (triggers), or SEQUENCE (triggers): one after the other."""

    how: Literal["any", "all", "sequence"]
    triggers: tuple[Trigger, ...]


@dataclass(frozen=True, slots=True)
class Until(Node):
    """Trigger UNTIL end: ended for good by another one, which fires too."""

    trigger: Trigger
    end: Trigger


Trigger: TypeAlias = (
    WhenClosed
    | WhenComplete
    | AfterWatermark
    | EachRow
    | AfterRow
    | EachBatch
    | EveryRows
    | AfterRows
    | EveryPeriod
    | AfterDelay
    | Always
    | Never
    | Repeat
    | Several
    | Until
)


@dataclass(frozen=True, slots=True)
class Emit(Node):
    """The whole clause; what was not said is none.

    `mode` is "changes" or "final" in ksqlDB's own forms, which have nothing else.
    """

    mode: Literal["changes", "final", "discarding", "accumulating", "retracting"] | None = None
    trigger: Trigger | None = None
    early: Trigger | None = None
    late: Trigger | None = None
    keep_late: Duration | None = None
    stamp: Literal["end", "earliest", "latest"] | None = None
    empty_on_time: bool | None = None
    empty_final: bool | None = None
