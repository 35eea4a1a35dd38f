"""What every step of a program refuses: the wrong order, the wrong kind of value, two programs."""

from __future__ import annotations

from types import UnionType

from penstock.errors import ModelError
from penstock.front.dsl.program import Program


def same_program(one: Program, other: Program) -> None:
    """Refuse to bring streams of two programs together."""
    if one is not other:
        raise ModelError(
            "PROGRAM_MIXED",
            "streams of two programs are brought together",
            hint="Make all of them from one App.",
        )


def too_late(step: str) -> ModelError:
    """Give the refusal of a step that should stand before `agg`."""
    return ModelError(
        "STEP_ORDER",
        f"{step} comes after agg",
        hint=f"Write .{step}(...) before .agg(...), or .group_by(...) first for these results.",
    )


def must_be(value: object, kind: type | UnionType, step: str, example: str) -> None:
    """Refuse a value of another kind than the step takes."""
    if not isinstance(value, kind):
        raise ModelError(
            "STEP_ARGUMENT",
            f"{step} is given {value!r}",
            hint=f"Give it a value such as {example}.",
        )
