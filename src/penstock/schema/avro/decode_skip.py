"""Going over values without reading them: many at once, or one by one where only few are left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from penstock.schema.avro.decode_cursor import ENDS_EARLY, Cursor, Ints
from penstock.schema.avro.decode_walk import TooShort, Walker, Widths
from penstock.schema.avro.nodes import (
    Array,
    AvroSchema,
    Enum,
    Map,
    Node,
    Primitive,
    Record,
    Union,
)

FEW = 12
"""So few values are gone over one by one sooner than all at once: a round costs about as much."""


@dataclass(frozen=True, slots=True)
class _Value:
    cursor: Cursor
    node: Node


@dataclass(frozen=True, slots=True)
class _Blocks:
    """A block of items begins here, or the end of all."""

    cursor: Cursor
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class _Items:
    cursor: Cursor
    items: tuple[Node, ...]
    left: Ints


@dataclass(frozen=True, slots=True)
class _Back:
    """A part of the values is done: the whole goes on."""

    whole: Cursor
    chosen: Ints
    part: Cursor


_Step: TypeAlias = _Value | _Blocks | _Items | _Back


class Skipper:
    """Goes over values of a schema; it may hold itself to any depth, so there is no recursion."""

    def __init__(self, schema: AvroSchema) -> None:
        self._schema = schema
        self.widths = Widths(schema)
        self.walker = Walker(schema, self.widths)

    def skip(self, cursor: Cursor, node: Node) -> None:
        """Go over one value for each."""
        steps: list[_Step] = [_Value(cursor, node)]
        while steps:
            step = steps.pop()
            if isinstance(step, _Back):
                step.whole.take_back(step.chosen, step.part)
            elif len(step.cursor) == 0:
                continue
            elif isinstance(step, _Value):
                self._value(step, steps)
            elif isinstance(step, _Blocks):
                self._blocks(step, steps)
            else:
                self._items(step, steps)

    def _value(self, step: _Value, steps: list[_Step]) -> None:
        cursor, node = step.cursor, self._schema.follow(step.node)
        width = self.widths.of(node)
        if width is not None:
            cursor.pass_over(width)
        elif len(cursor) <= FEW:
            self._one_by_one(cursor, node)
        elif isinstance(node, Primitive) and node.name in ("string", "bytes"):
            cursor.text()
        elif isinstance(node, Primitive | Enum):
            cursor.read_long()
        elif isinstance(node, Record):
            steps.extend(_Value(cursor, item.type) for item in reversed(node.fields))
        elif isinstance(node, Union):
            self._union(cursor, node, steps)
        elif isinstance(node, Array):
            steps.append(_Blocks(cursor, (node.items,)))
        elif isinstance(node, Map):
            steps.append(_Blocks(cursor, (Primitive("string"), node.values)))

    def _union(self, cursor: Cursor, union: Union, steps: list[_Step]) -> None:
        branch = read_branch(cursor, len(union.branches))
        for place, node in enumerate(union.branches):
            chosen = np.flatnonzero(branch == place)
            if len(chosen):
                part = cursor.part(chosen)
                steps += [_Back(cursor, chosen, part), _Value(part, node)]

    def _blocks(self, step: _Blocks, steps: list[_Step]) -> None:
        cursor = step.cursor
        if len(cursor) <= FEW:
            items = step.items
            self._one_by_one(cursor, Array(items[0]) if len(items) == 1 else Map(items[-1]))
            return
        counts = cursor.read_long()
        sized = counts < 0
        if sized.any():
            chosen = np.flatnonzero(sized)
            part = cursor.part(chosen)
            part.pass_over(part.read_long())
            cursor.take_back(chosen, part)
        chosen = np.flatnonzero(counts)
        part = cursor.part(chosen)
        steps += [_Back(cursor, chosen, part), _Blocks(part, step.items)]
        steps.append(_Items(part, step.items, np.maximum(counts[chosen], 0)))

    def _items(self, step: _Items, steps: list[_Step]) -> None:
        width = self.widths.of(*step.items)
        if width is not None:
            skip_wide(step.cursor, step.left, width)
            return
        chosen = np.flatnonzero((step.left > 0) & ~step.cursor.lost)
        if not len(chosen):
            return
        part = step.cursor.part(chosen)
        steps += [_Back(step.cursor, chosen, part), _Items(part, step.items, step.left[chosen] - 1)]
        steps.extend(_Value(part, node) for node in reversed(step.items))

    def _one_by_one(self, cursor: Cursor, node: Node) -> None:
        at = cursor.at.copy()
        lost = np.zeros(len(at), np.bool_)
        view = cursor.source.view
        for place, begin, end in cursor.each():
            try:
                at[place] = self.walker.walk(view, begin, end, node)
            except TooShort:
                lost[place] = True
        cursor.at = at
        if lost.any():
            cursor.fail(lost, ENDS_EARLY)


def read_branch(cursor: Cursor, branches: int) -> Ints:
    """Read which branch each value is of."""
    branch = cursor.read_long()
    wrong = (branch < 0) | (branch >= branches)
    if wrong.any():
        cursor.fail(wrong, f"a value is of none of the {branches} branches of a union")
        branch = np.where(wrong, 0, branch)
    return branch


def skip_wide(cursor: Cursor, counts: Ints, width: int) -> Ints:
    """Go over so many items of one width, and give where they begin."""
    # What would not fit is as wide as can be, so that the product does not come round.
    room = (cursor.end - cursor.at) // max(width, 1)
    return cursor.pass_over(np.minimum(counts, room + 1) * width)
