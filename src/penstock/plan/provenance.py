"""Where the rows of a step come from: what was done to them since a topic or a keyed operator.

Two programs are compared by this rather than step by step: a column more that passes by, or a
projection that a rule has put in, is no difference to the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from penstock.model.expr import Column, Expr
from penstock.model.physical import Stateful
from penstock.model.relation import Relation, SameColumns
from penstock.model.source import Stream
from penstock.model.stateless import Apply, Expect, Filter, Project, Retire, Union
from penstock.plan.reads import reads
from penstock.plan.step_text import step_text
from penstock.plan.substitute import substitute
from penstock.plan.token import Token, field_tokens, token
from penstock.plan.user_code import by_bytecode

_INPUTS = ("source", "sources", "left", "right")
_LABELS = ("name",)
"""What a step is called in counts and letters, and is not known by."""


@dataclass(frozen=True, slots=True)
class Done:
    """Something done to rows: `mark` tells it from others, `words` say it.

    `reads` are the columns it may have read, and what each of them was.
    """

    mark: Token
    words: str = field(compare=False)
    reads: tuple[tuple[str, Token], ...] = field(default=(), compare=False)

    def is_like(self, other: Done) -> bool:
        """Whether both do the same to the columns that both have."""
        known = dict(other.reads)
        return self == other and all(known.get(name, mark) == mark for name, mark in self.reads)


@dataclass(frozen=True, slots=True)
class Way:
    """The way of rows from where they come from; a column is an expression over what is there."""

    origin: Stream | Stateful
    done: tuple[Done, ...]
    columns: Mapping[str, Expr]

    def mark_of(self, column: str) -> Token:
        """Give what tells a column from another."""
        return token(self.columns[column], by_bytecode)


def ways_to(relation: Relation) -> Iterator[Way]:
    """Give the ways on which rows come to a step, itself included."""
    if isinstance(relation, Stream | Stateful):
        yield Way(relation, (), _same(relation))
        return
    if isinstance(relation, Union):
        for item in relation.inputs:
            yield from ways_to(item)
        return
    for way in ways_to(relation.inputs[0]):
        yield _after(relation, way)


def _after(step: Relation, way: Way) -> Way:
    if isinstance(step, Project):
        made = {item.name: substitute(item.expr, way.columns) for item in step.columns}
        return Way(way.origin, way.done, made)
    if isinstance(step, Filter | Retire | Expect):
        condition = token(substitute(step.condition, way.columns), by_bytecode)
        how = step.otherwise if isinstance(step, Expect) else ""
        mark = (type(step).__name__, condition, how)
        return Way(way.origin, (*way.done, Done(mark, step_text(step))), way.columns)
    without = (*_INPUTS, *_of_no_matter(step))
    own = tuple(field_tokens(step, by_bytecode, without=without))
    read = tuple((name, way.mark_of(name)) for name in sorted(reads(step)) if name in way.columns)
    done = (*way.done, Done((type(step).__name__, own), step_text(step), read))
    columns = way.columns if isinstance(step, SameColumns) else _same(step)
    return Way(way.origin, done, columns)


def _of_no_matter(step: Relation) -> tuple[str, ...]:
    if not isinstance(step, Apply):
        return ()
    # A filter gives the columns that it has got.
    return (*_LABELS, "gives") if step.shape == "filter" else _LABELS


def _same(relation: Relation) -> Mapping[str, Expr]:
    return {name: Column(name) for name in relation.schema.names}
