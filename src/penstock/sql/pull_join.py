"""Joins of frames: by equality as far as there is one, and by any other condition."""

from __future__ import annotations

import polars as pl

from penstock.front.sql.pull.tree import AT, PullJoin
from penstock.kernel.expression import lower
from penstock.kernel.port import Frame
from penstock.schema.schema import Schema

_LEFT, _RIGHT, _OTHER = "_left", "_right", "_other_at"


def joined(step: PullJoin, left: Frame, right: Frame) -> Frame:
    """Give the rows of a join; when one happened is the later time of both."""
    names = [f"_on{place}" for place in range(len(step.pairs))]
    one = left.with_columns(
        lower(pair[0], step.left.schema).alias(name)
        for name, pair in zip(names, step.pairs, strict=True)
    ).with_row_index(_LEFT)
    other = (
        right.with_columns(
            lower(pair[1], step.right.schema).alias(name)
            for name, pair in zip(names, step.pairs, strict=True)
        )
        .rename({AT: _OTHER})
        .with_row_index(_RIGHT)
    )
    if names:
        both = one.join(other, on=names, how="inner", maintain_order="left_right")
    else:
        both = one.join(other, how="cross")
    if step.condition is not None:
        known = Schema(
            (
                *(field for field in step.left.schema.fields if field.name != AT),
                *step.right.schema.fields,
            )
        )
        both = both.filter(lower(step.condition, known).fill_null(value=False))
    return _padded(step, one, other, both)


def _padded(step: PullJoin, one: Frame, other: Frame, both: Frame) -> Frame:
    """Add the rows that have no partner, where they are asked for."""
    if step.how in ("semi", "anti"):
        return one.join(both, on=_LEFT, how=step.how, maintain_order="left")
    parts = [both]
    if step.how in ("left", "full"):
        parts.append(one.join(both, on=_LEFT, how="anti", maintain_order="left"))
    if step.how in ("right", "full"):
        parts.append(other.join(both, on=_RIGHT, how="anti", maintain_order="left"))
    whole = pl.concat(parts, how="diagonal_relaxed")
    # Rows stand in the order of the left ones, those of the right alone at the end.
    whole = whole.sort(_LEFT, _RIGHT, nulls_last=True, maintain_order=True)
    return whole.with_columns(pl.max_horizontal(AT, _OTHER).alias(AT))
