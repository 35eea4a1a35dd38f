"""Patterns in words, close to how SQL writes them."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.model.duration import duration_text
from penstock.model.expr import Column, Expr
from penstock.model.expr_text import expr_text
from penstock.model.navigation import AGGREGATED, Navigation, replaced
from penstock.model.pattern import Pattern
from penstock.model.pattern_part import (
    Absent,
    Gap,
    Hidden,
    InOrder,
    NotNext,
    OneOf,
    Part,
    PatternStep,
    Times,
    denied_in,
)


def pattern_words(pattern: Pattern) -> Iterator[str]:
    """Say a pattern: its shape and time, then what its steps are like."""
    time = "" if pattern.within is None else f" within {duration_text(pattern.within)}"
    yield part_text(pattern.body) + time
    for step in dict.fromkeys((*pattern.steps, *denied_in(pattern.body))):
        if step.condition is not None:
            yield f"{step.name}: {condition_text(step.condition)}"


def part_text(part: Part) -> str:
    """Write the shape of a pattern: `..` for rows left out, `!` for rows that are not there."""
    match part:
        case PatternStep(name):
            return name
        case InOrder(parts):
            return " ".join(_inner(item) for item in parts)
        case OneOf(parts):
            return " | ".join(part_text(item) for item in parts)
        case Times():
            return _times(part)
        case Hidden(inner):
            return f"{{- {part_text(inner)} -}}"
        case Gap() | NotNext() | Absent():
            return _not_matched(part)


def _not_matched(part: Gap | NotNext | Absent) -> str:
    match part:
        case Gap(rows, without):
            denied = "".join(f" !{step.name}" for step in without)
            return f"{'..' if rows == 'others' else '...'}{denied}"
        case NotNext(step):
            return f"!next {step.name}"
        case Absent(step):
            return f"!{step.name}"


def condition_text(condition: Expr) -> str:
    """Write a condition or a result as a reader would."""
    return expr_text(replaced(condition, lambda found: Column(_navigation(found))))


def _times(part: Times) -> str:
    counts = {(0, None): "*", (1, None): "+", (0, 1): "?"}
    least, most = part.least, part.most
    if (least, most) in counts:
        count = counts[least, most]
    else:
        count = f"{{{least}}}" if least == most else f"{{{least},{'' if most is None else most}}}"
    apart = "" if part.apart is None else f" {part_text(part.apart)}"
    inner = f"({part_text(part.part)}{apart})" if apart else _inner(part.part)
    until = "" if part.until is None else f" until {condition_text(part.until)}"
    return f"{inner}{count}{'' if part.greedy else '?'}{until}"


def _inner(part: Part) -> str:
    text = part_text(part)
    return f"({text})" if isinstance(part, OneOf | InOrder) else text


def _navigation(navigation: Navigation) -> str:
    steps = "|".join(navigation.steps)
    of = "*" if navigation.of is None else expr_text(navigation.of)
    of = f"{steps}.{of}" if steps else of
    if navigation.function in ("match_number", "classifier"):
        of = steps
    more = f", {navigation.offset}" if navigation.offset else ""
    text = f"{navigation.function}({of}{more})"
    if navigation.function == "last" and not navigation.steps and not navigation.offset:
        text = of
    if navigation.back:
        text = f"prev({text}{f', {navigation.back}' if navigation.back > 1 else ''})"
    spoken = navigation.final and navigation.function in (*AGGREGATED, "first", "last")
    return f"final {text}" if spoken else text
