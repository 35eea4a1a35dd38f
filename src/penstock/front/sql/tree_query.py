"""Queries: SELECT and what is around it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from penstock.front.sql.tree import Duration, Name, Node
from penstock.front.sql.tree_emit import Emit
from penstock.front.sql.tree_expression import Expression, Literals, SortItem
from penstock.front.sql.tree_pattern import MatchClause
from penstock.front.sql.tree_window import Window


@dataclass(frozen=True, slots=True)
class Property(Node):
    """Name = value in WITH (...); the name is in capitals unless it was quoted.

    A value without quotes, as in `kafka_topic=visitors`, is a text as it was spelt.
    """

    name: str
    value: Literals


@dataclass(frozen=True, slots=True)
class SelectItem(Node):
    """An expression, with its name where one is given."""

    expression: Expression
    alias: Name | None = None


@dataclass(frozen=True, slots=True)
class SelectAll(Node):
    """All columns, `*`, or those of one source, `o.*`."""

    source: Name | None = None


@dataclass(frozen=True, slots=True)
class SelectFields(Node):
    """All parts of a struct as columns: `base->*`."""

    base: Expression


Selected: TypeAlias = SelectItem | SelectAll | SelectFields


@dataclass(frozen=True, slots=True)
class Source(Node):
    """A stream, table or common table expression by its name; `orders.LATE` has a `part`."""

    name: Name
    part: Name | None = None


@dataclass(frozen=True, slots=True)
class FileSource(Node):
    """A file by its path, `'events.jsonl'`, with properties where some are given."""

    path: str
    properties: tuple[Property, ...] = ()


@dataclass(frozen=True, slots=True)
class Subquery(Node):
    """A query in brackets."""

    query: Query


@dataclass(frozen=True, slots=True)
class Matched(Node):
    """The matches of a pattern in the rows of a relation."""

    relation: Relation
    match: MatchClause


@dataclass(frozen=True, slots=True)
class Aliased(Node):
    """A relation under another name."""

    relation: Relation
    alias: Name


@dataclass(frozen=True, slots=True)
class Within(Node):
    """WITHIN time, or WITHIN (before, after), [GRACE PERIOD grace]."""

    before: Duration
    after: Duration
    grace: Duration | None = None


@dataclass(frozen=True, slots=True)
class WithinWindow(Node):
    """WITHIN TUMBLING (...): both rows lie in one window."""

    window: Window


@dataclass(frozen=True, slots=True)
class AsOf(Node):
    """ASOF JOIN: the row that was valid then; [BY ARRIVAL | EVENT TIME [WAITING | CORRECTED]].

    [KEEP duration] says how long versions are kept.
    """

    by: Literal["arrival", "event time"] = "event time"
    answer: Literal["at once", "waiting", "corrected"] = "at once"
    keep: Duration | None = None


@dataclass(frozen=True, slots=True)
class Join(Node):
    """Two relations; `a JOIN b ON ... JOIN c ON ...` joins c to what a and b gave."""

    left: Relation
    right: Relation
    how: Literal["inner", "left", "right", "full", "semi", "anti"]
    on: Expression
    bound: Within | WithinWindow | AsOf | None = None


Relation: TypeAlias = Source | FileSource | Subquery | Matched | Aliased | Join


@dataclass(frozen=True, slots=True)
class Select(Node):
    """SELECT items FROM relation and the clauses that belong to it; not given is none or empty.

    `group_by` is none without GROUP BY, and empty with `GROUP BY ()`; so is `partition_by`.
    `SELECT 1` has no relation.
    """

    items: tuple[Selected, ...]
    relation: Relation | None = None
    window: Window | None = None
    where: Expression | None = None
    group_by: tuple[Expression, ...] | None = None
    partition_by: tuple[Expression, ...] | None = None
    having: Expression | None = None
    distinct: bool = False


@dataclass(frozen=True, slots=True)
class Union(Node):
    """The rows of both; without ALL, each only once."""

    left: QueryBody
    right: QueryBody
    keep_all: bool = False


QueryBody: TypeAlias = Select | Union | Subquery


@dataclass(frozen=True, slots=True)
class CommonTable(Node):
    """WITH name AS (query)."""

    name: Name
    query: Query


@dataclass(frozen=True, slots=True)
class Top(Node):
    """ORDER BY ... LIMIT count BY keys: the first rows of each group, kept up to date."""

    count: int
    keys: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Start(Node):
    """Where reading begins: FROM BEGINNING, LATEST, '<time>' or OFFSET n."""

    at: Literal["beginning", "latest", "time", "offset"]
    value: str | int | None = None


@dataclass(frozen=True, slots=True)
class Query(Node):
    """[WITH ...] body [ORDER BY] [LIMIT n BY keys] [EMIT ...] [FROM start] [LIMIT n]."""

    body: QueryBody
    common: tuple[CommonTable, ...] = ()
    order_by: tuple[SortItem, ...] = ()
    top: Top | None = None
    emit: Emit | None = None
    start: Start | None = None
    limit: int | None = None
