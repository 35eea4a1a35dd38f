"""WINDOW: where in time, or among rows, results are computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from penstock.front.sql.tree import Duration, Name, Node
from penstock.front.sql.tree_expression import Expression, Literals

WindowKind: TypeAlias = Literal["tumbling", "hopping", "sliding", "session", "global"]
TimeDomain: TypeAlias = Literal["event", "processing", "ingestion"]


@dataclass(frozen=True, slots=True)
class RowsSize(Node):
    """So many rows: `100 ROWS`."""

    count: int


@dataclass(frozen=True, slots=True)
class DeltaSize(Node):
    """A distance between the values of a column: `5.0 OF price`."""

    amount: Literals
    column: Name


@dataclass(frozen=True, slots=True)
class PunctuationSize(Node):
    """Up to a row for which a condition holds: `UNTIL condition`."""

    condition: Expression


WindowSize: TypeAlias = Duration | RowsSize | DeltaSize | PunctuationSize


@dataclass(frozen=True, slots=True)
class Window(Node):
    """WINDOW [name] kind (options).

        TUMBLING (SIZE size)                    side by side
        HOPPING (SIZE size, ADVANCE BY size)    one begins every so often
        SLIDING (SIZE size [, ADVANCE BY size]) the rows up to each row
        SESSION (gap)                           rows without a pause; a gap may be an expression
        GLOBAL                                  one for all time

    A size is a duration, `n ROWS`, `number OF column` or `UNTIL condition`. Further options,
    in any order: RETENTION d, GRACE PERIOD d, OFFSET d, MAX SIZE d (sessions), FULL ONLY (no
    sliding window before it is full), BY EVENT | PROCESSING | INGESTION TIME.
    """

    kind: WindowKind
    size: WindowSize | None = None
    advance: WindowSize | None = None
    gap: Duration | Expression | None = None
    retention: Duration | None = None
    grace: Duration | None = None
    offset: Duration | None = None
    max_size: Duration | None = None
    full_only: bool = False
    domain: TimeDomain = "event"
    name: Name | None = None
