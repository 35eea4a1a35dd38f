"""Two tables joined, with the updates that ksqlDB gives: one for each change of a side.

The sides are put together in one stream of changes, and a process for each value that is compared
remembers both rows. By a foreign key many left rows have one right row: then a first process, for
each left key, says to the second where its row was and where it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from penstock.front.sql.functions import operators
from penstock.front.sql.functions.typed import Typed
from penstock.front.sql.rows import GONE
from penstock.front.sql.source import ROW_TIME
from penstock.model.expr import Cast, Column, Expr
from penstock.model.expr import Literal as Constant
from penstock.model.process import Process, StateField
from penstock.model.processor import Calls, Context
from penstock.model.relation import Relation
from penstock.model.stateless import Named, Project, Restamp, Union
from penstock.schema.schema import Field, Schema
from penstock.schema.types import BOOLEAN, INT64, STRING, Kind, Type

Row: TypeAlias = dict[str, Any]
How: TypeAlias = Literal["inner", "left", "right", "full"]

ON, PRIMARY = "_on", "_primary"
_FROM_LEFT, _LEFT, _RIGHT, _TASK = "_from_left", "_left", "_right", "_task"
_KEEPS_LEFT, _KEEPS_RIGHT = ("left", "full"), ("right", "full")


@dataclass(frozen=True, slots=True)
class TableSide:
    """A table: its rows with what is compared as `_on`, its columns, and its key."""

    relation: Relation
    columns: tuple[Field, ...]
    key: tuple[str, ...]

    @property
    def type(self) -> Type:
        """The type of one row."""
        named = tuple((field.name, field.type) for field in self.columns)
        return Type(Kind.STRUCT, fields=(*named, (ROW_TIME, INT64)))

    def whole(self) -> Expr:
        """Give a row as one value."""
        parts = [(field.name, Typed(Column(field.name), field.type)) for field in self.columns]
        return operators.struct([*parts, (ROW_TIME, Typed(Column(ROW_TIME), INT64))]).expr


@dataclass(frozen=True, slots=True)
class TableJoin:
    """A join of two tables; `shared` are the columns of the result that hold what is compared."""

    left: TableSide
    right: TableSide
    how: How
    on: Type
    foreign: bool
    shared: tuple[str, ...]

    @property
    def key(self) -> tuple[str, ...]:
        """The columns that tell the rows of the result apart."""
        return self.left.key if self.foreign else self.shared[:1]

    @property
    def gives(self) -> Schema:
        """The columns of the result."""
        columns = (*self.left.columns, *self.right.columns)
        return Schema((*columns, Field(ON, self.on), Field(ROW_TIME, INT64), Field(GONE, BOOLEAN)))

    def relation(self) -> Relation:
        """Give the rows of the result, those that are gone among them."""
        both = Union((self._changes(left=True), self._changes(left=False)), "JOIN")
        states: tuple[StateField, ...] = (StateField("right", "value", self.right.type),)
        if self.foreign:
            placed = self._placed(both)
            states = (*states, StateField("lefts", "map", self.left.type, STRING))
            joined = Process(placed, (ON,), "join", Meeting(self), self.gives, states, site="JOIN")
        else:
            states = (*states, StateField("left", "value", self.left.type))
            joined = Process(both, (ON,), "join", Pairing(self), self.gives, states, site="JOIN")
        return Restamp(joined, ROW_TIME, "JOIN")

    def _changes(self, *, left: bool) -> Relation:
        side, other = (self.left, self.right) if left else (self.right, self.left)
        whole, missing = side.whole(), Cast(Constant(None), other.type)
        primary: Expr = Cast(Constant(None), STRING)
        if left and self.foreign:
            known = side.relation.schema
            keys = [Typed(Column(name), known.field(name).type) for name in side.key]
            texts = [operators.cast(key, STRING) for key in keys]
            primary = texts[0].expr
            if len(texts) > 1:
                primary = operators.cast(operators.array(texts), STRING).expr
        return Project(
            side.relation,
            (
                Named(ON, Column(ON)),
                Named(PRIMARY, primary),
                Named(_FROM_LEFT, Constant(left)),
                Named(_LEFT, whole if left else missing),
                Named(_RIGHT, missing if left else whole),
                Named(GONE, Column(GONE)),
            ),
            "JOIN",
        )

    def _placed(self, both: Relation) -> Relation:
        """Let left rows say where they go, and where they leave."""
        gives = Schema((*both.schema.fields, Field(_TASK, STRING)))
        states = (
            StateField("row", "value", self.left.type),
            StateField("at", "value", self.on),
        )
        keeps = self.how in _KEEPS_LEFT
        return Process(both, (PRIMARY,), "place", Placing(keeps), gives, states, site="JOIN")

    def result(self, left: Row | None, right: Row | None, on: Any) -> Row:  # noqa: ANN401
        """Give the row of two that meet."""
        row = {field.name: (left or {}).get(field.name) for field in self.left.columns}
        row |= {field.name: (right or {}).get(field.name) for field in self.right.columns}
        times = [side[ROW_TIME] for side in (left, right) if side is not None]
        row |= dict.fromkeys(self.shared[:1], on) if not self.foreign else {}
        return {**row, ON: on, ROW_TIME: max(times), GONE: False}

    def gone(self, keys: Mapping[str, Any], on: Any, time: int) -> Row:  # noqa: ANN401
        """Give that a row is gone."""
        empty = dict.fromkeys(self.gives.names)
        return {**empty, **keys, ON: on, ROW_TIME: time, GONE: True}


@dataclass(frozen=True)
class Pairing:
    """Knows the row of each side for one key."""

    join: TableJoin

    def open(self, state: Mapping[str, Any]) -> Calls:
        """Give the function to call."""

        def process(row: Row, context: Context) -> Iterator[Row]:
            before = (state["left"].value, state["right"].value)
            name = "left" if row[_FROM_LEFT] else "right"
            state[name].value = None if row[GONE] else row[_LEFT if row[_FROM_LEFT] else _RIGHT]
            after = (state["left"].value, state["right"].value)
            if self._shown(*after):
                yield self.join.result(*after, row[ON])
            elif self._shown(*before):
                keys = dict.fromkeys(self.join.shared[:1], row[ON])
                other = after[1] if row[_FROM_LEFT] else after[0]
                time = max(context.time, other[ROW_TIME] if other else context.time)
                yield self.join.gone(keys, row[ON], time)

        def wanted(row: Row, context: Context) -> Iterator[Row]:
            if row[ON] is not None and not self._idle(row, state):
                yield from process(row, context)

        return Calls(wanted)

    def _shown(self, left: Row | None, right: Row | None) -> bool:
        """Whether two sides make a row."""
        if left is not None and right is not None:
            return True
        kept = _KEEPS_LEFT if left is not None else _KEEPS_RIGHT
        return (left is not None or right is not None) and self.join.how in kept

    def _idle(self, row: Row, state: Mapping[str, Any]) -> bool:
        """Whether a side that the other must have is changed while the other has nothing."""
        mine = state["left" if row[_FROM_LEFT] else "right"].value
        return mine is None and bool(row[GONE])


@dataclass(frozen=True)
class Placing:
    """Knows of each left key its row, and where it was."""

    keeps: bool
    """Whether a left row without a partner comes out."""

    def open(self, state: Mapping[str, Any]) -> Calls:
        """Give the function to call."""
        held, at = state["row"], state["at"]

        def process(row: Row, _: Context) -> Iterator[Row]:
            if not row[_FROM_LEFT]:
                yield {**row, _TASK: "right"}
                return
            old, was = held.value, at.value
            new = None if row[GONE] else row[_LEFT]
            held.value, at.value = new, None if new is None else row[ON]
            if old is not None and new is None:
                yield {
                    **row,
                    _TASK: "delete",
                    _LEFT: {**old, ROW_TIME: row[_LEFT][ROW_TIME]},
                    ON: was,
                }
                return
            if old is not None and was != row[ON]:
                yield {**row, _TASK: "forget", ON: was}
            if new is not None:
                yield {**row, _TASK: "unset" if old is not None or self.keeps else "answer"}

        return Calls(process)


@dataclass(frozen=True)
class Meeting:
    """Knows of each right key its row, and the left rows that refer to it."""

    join: TableJoin

    def open(self, state: Mapping[str, Any]) -> Calls:
        """Give the function to call."""
        right, lefts = state["right"], state["lefts"]

        def process(row: Row, context: Context) -> Iterator[Row]:
            task, name = row[_TASK], row[PRIMARY]
            if task == "right":
                right.value = None if row[GONE] else row[_RIGHT]
                for left in list(lefts.values()):
                    yield self._answer(left, right.value, row[ON], context.time)
                return
            left = row[_LEFT]
            if task in ("delete", "forget"):
                if name in lefts:
                    del lefts[name]
                if task == "delete":
                    yield self.join.gone(self._keys(left), row[ON], left[ROW_TIME])
                return
            if row[ON] is not None:
                lefts[name] = left
            if right.value is not None or task == "unset":
                yield self._answer(left, right.value, row[ON], context.time)

        return Calls(process)

    def _answer(self, left: Row, right: Row | None, on: Any, time: int) -> Row:  # noqa: ANN401
        if right is None and self.join.how not in _KEEPS_LEFT:
            return self.join.gone(self._keys(left), on, max(time, left[ROW_TIME]))
        made = self.join.result(left, right, on)
        return {**made, ROW_TIME: max(time, made[ROW_TIME])}

    def _keys(self, left: Row) -> Row:
        return {name: left[name] for name in self.join.left.key}
