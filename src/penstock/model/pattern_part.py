"""What a sequence of rows is made of: steps, one after the other, or, so many times, or not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from penstock.model.expr import Expr


@dataclass(frozen=True, slots=True)
class PatternStep:
    """One row for which a condition holds; without a condition, any row."""

    name: str
    condition: Expr | None = None
    site: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class InOrder:
    """Parts one after the other, each beginning with the row after the one before."""

    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class OneOf:
    """The first of these parts that leads to a match."""

    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Gap:
    """Rows between two parts that are no rows of the match.

    `others` are rows with which nothing that follows can begin; `any` row may be left out,
    but as few as possible are. No row for which a step of `without` holds is left out.
    """

    rows: Literal["others", "any"] = "others"
    without: tuple[PatternStep, ...] = ()


@dataclass(frozen=True, slots=True)
class Times:
    """A part `least` to `most` times, as often as possible, or as seldom if not `greedy`.

    An iteration that is not needed must take a row. With `apart` other rows may lie between
    two iterations. No row for which `until` holds is taken or left out.
    """

    part: Part
    least: int = 1
    most: int | None = None
    greedy: bool = True
    apart: Gap | None = None
    until: Expr | None = None


@dataclass(frozen=True, slots=True)
class Hidden:
    """A part whose rows are matched, and not given where all rows of a match are."""

    part: Part


@dataclass(frozen=True, slots=True)
class NotNext:
    """No row: the next one, if there is one, is not like this step."""

    step: PatternStep


@dataclass(frozen=True, slots=True)
class Absent:
    """No row: up to the end of the time that a match may take there is none like this step."""

    step: PatternStep


Part: TypeAlias = PatternStep | InOrder | OneOf | Gap | Times | Hidden | NotNext | Absent


def inner_parts(part: Part) -> tuple[Part, ...]:
    """Give the parts that a part is made of."""
    match part:
        case InOrder(parts) | OneOf(parts):
            return parts
        case Times(inner, apart=apart):
            return (inner,) if apart is None else (inner, apart)
        case Hidden(inner):
            return (inner,)
        case _:
            return ()


def parts_in(part: Part) -> Iterator[Part]:
    """Give a part and all within it, in order."""
    yield part
    for inner in inner_parts(part):
        yield from parts_in(inner)


def steps_in(part: Part) -> tuple[PatternStep, ...]:
    """Give the steps that rows are taken by, each name once, in order."""
    found = {item.name: item for item in parts_in(part) if isinstance(item, PatternStep)}
    return tuple(found.values())


def denied_in(part: Part) -> Iterator[PatternStep]:
    """Give the steps that no row may be like."""
    for item in parts_in(part):
        match item:
            case NotNext(step) | Absent(step):
                yield step
            case Gap(_, without):
                yield from without
            case _:
                continue


def until_in(part: Part) -> Iterator[Expr]:
    """Give the conditions that end repetitions."""
    for item in parts_in(part):
        if isinstance(item, Times) and item.until is not None:
            yield item.until


def may_be_empty(part: Part) -> bool:
    """Whether a part can be there without any row."""
    match part:
        case PatternStep():
            return False
        case InOrder(parts):
            return all(may_be_empty(inner) for inner in parts)
        case OneOf(parts):
            return any(may_be_empty(inner) for inner in parts)
        case Times(inner, least):
            return least == 0 or may_be_empty(inner)
        case Hidden(inner):
            return may_be_empty(inner)
        case Gap() | NotNext() | Absent():
            return True


def size_of(part: Part) -> int:
    """Count the places for a row, with repetitions written out."""
    match part:
        case Times(inner, least, most, apart=apart):
            copies = max(1, least + 1 if most is None else most)
            return copies * (size_of(inner) + (apart is not None))
        case PatternStep() | Gap() | NotNext() | Absent():
            return 1
        case _:
            return sum(size_of(inner) for inner in inner_parts(part))
