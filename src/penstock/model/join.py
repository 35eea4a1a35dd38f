"""Rows of two inputs brought together by key, as far as a bound lets them meet."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal, TypeAlias

from typing_extensions import override

from penstock.errors import ModelError
from penstock.model.condition import require_condition
from penstock.model.expr import Expr
from penstock.model.join_bound import AsOf, Bound, Lasting, Whole
from penstock.model.relation import Relation, made_once
from penstock.schema.schema import Field, Schema
from penstock.schema.types import Kind, Type

How: TypeAlias = Literal["inner", "left", "right", "full", "semi", "anti"]
_INTEGERS = (Kind.INT32, Kind.INT64)
_TIMES = (Kind.TIMESTAMP, Kind.INT64)


@dataclass(frozen=True, slots=True)
class Pick:
    """A column of the result: of the left row, of the right one, or of whichever is there."""

    name: str
    left: str | None = None
    right: str | None = None


@dataclass(frozen=True, slots=True)
class Join(Relation):
    """Pairs of rows with the same values in the columns `on`, which no null is equal to.

    A row of a side that is kept (`left`, `right`, `full`) and has no partner comes out alone:
    with `eager`, as soon as it comes, and it is taken back when a partner does; without, once
    no partner can come any more. `semi` gives left rows that have a partner, `anti` those that
    have none. A `condition` over the columns of the result must hold of a pair as well.
    `keep_late` is how far the watermark may pass a row's last partner before it leaves: one that
    came out alone by then is taken back when a late partner comes.
    """

    left: Relation
    right: Relation
    on: tuple[tuple[str, str], ...]
    how: How
    bound: Bound
    columns: tuple[Pick, ...]
    eager: bool = False
    condition: Expr | None = None
    site: str = field(default="", compare=False)
    keep_late: timedelta = timedelta(0)

    def __post_init__(self) -> None:
        require_key(self.on, self.site)
        if self.keep_late < timedelta(0):
            raise ModelError(
                "JOIN_LATE",
                f"a join is to keep rows for {self.keep_late} of lateness ({self.site})",
                hint="Give a time that is not negative.",
            )
        for pair in self.on:
            require_same_type(pair, (self.left.schema, self.right.schema), self.site)
        if isinstance(self.bound, Lasting):
            self._require_end(self.bound)
        if self.condition is not None:
            require_condition(self.condition, self.schema, self.site)
        _ = self.schema

    def _require_end(self, bound: Lasting) -> None:
        source = self.left if bound.side == "left" else self.right
        end = source.schema.field(bound.column, role="end", site=self.site)
        if end.type.kind not in _TIMES:
            raise ModelError(
                "JOIN_LASTING",
                f'rows of a join last until "{bound.column}", which is no time ({self.site})',
                hint="Name a column of timestamps, or of milliseconds since 1970.",
            )
        if self.how != "inner":
            raise ModelError(
                "JOIN_LASTING",
                f"a {self.how} join of rows that last until a time in them ({self.site})",
                hint='Give how="inner": when a row is alone is not known from the plan.',
            )

    @property
    def left_keys(self) -> tuple[str, ...]:
        """The columns of the left input that are compared."""
        return tuple(mine for mine, _ in self.on)

    @property
    def right_keys(self) -> tuple[str, ...]:
        """The columns of the right input that are compared, in the same order."""
        return tuple(other for _, other in self.on)

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns of the result that hold the key, as far as they are picked."""
        if self.how == "right":
            names = {pick.right: pick.name for pick in reversed(self.columns) if pick.right}
            return tuple(names[key] for key in self.right_keys if key in names)
        names = {pick.left: pick.name for pick in reversed(self.columns) if pick.left}
        return tuple(names[key] for key in self.left_keys if key in names)

    @property
    def keeps_left(self) -> bool:
        """Whether a left row without a partner comes out."""
        return self.how in ("left", "full", "anti")

    @property
    def keeps_right(self) -> bool:
        """Whether a right row without a partner comes out."""
        return self.how in ("right", "full")

    @property
    @override
    @made_once
    def schema(self) -> Schema:
        sides = (self.left.schema, self.right.schema)
        return Schema(
            tuple(result_field(pick, sides, self.how, self.site) for pick in self.columns)
        )

    @property
    @override
    def inputs(self) -> tuple[Relation, ...]:
        return (self.left, self.right)

    @property
    @override
    def retracts(self) -> bool:
        match self.bound:
            case Whole():
                return True
            case AsOf(corrected=corrected):
                return self.left.retracts or corrected
            case _:
                corrected = self.eager or self.keep_late > timedelta(0)
                alone = self.how in ("left", "right", "full", "anti") and corrected
                return alone or self.left.retracts or self.right.retracts


Sides: TypeAlias = tuple[Schema, Schema]
"""The columns on the left and those on the right."""


def result_field(pick: Pick, sides: Sides, how: How, site: str) -> Field:
    """Give a column of the result; one of a side that may be missing may be null."""
    left, right = sides
    found = [left.field(pick.left, site=site)] if pick.left else []
    found += [right.field(pick.right, site=site)] if pick.right else []
    missing = (pick.left is None and how in ("left", "full")) or (
        pick.right is None and how in ("right", "full")
    )
    nullable = missing or any(item.nullable for item in found)
    return Field(pick.name, _wider(tuple(item.type for item in found)), nullable)


def require_key(on: tuple[tuple[str, str], ...], site: str) -> None:
    """Refuse a join of everything with everything."""
    if not on:
        raise ModelError(
            "JOIN_KEY",
            f"a join has no key ({site})",
            hint='Name the columns that are equal, as in on="id".',
        )


def require_same_type(pair: tuple[str, str], sides: Sides, site: str) -> None:
    """Refuse to compare columns of different types; whole numbers of any size are alike."""
    mine, other = pair
    one = sides[0].field(mine, role="join key", site=site).type
    two = sides[1].field(other, role="join key", site=site).type
    if one != two and not (one.kind in _INTEGERS and two.kind in _INTEGERS):
        raise ModelError(
            "JOIN_TYPES",
            f'join key "{mine}" is of type {one} and "{other}" of type {two} ({site})',
            hint=f'Cast one of them first, as in with_columns({mine}=col("{mine}").cast(...)).',
        )


def _wider(types: tuple[Type, ...]) -> Type:
    return next((item for item in types if item.kind is Kind.INT64), types[0])
