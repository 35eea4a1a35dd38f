"""How each operator and step of a plan is computed, and why so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from penstock.model.aggregate import Aggregate
from penstock.model.dedup import Dedup
from penstock.model.physical import Physical, Stateful
from penstock.model.relation import Relation
from penstock.model.stateless import Apply
from penstock.model.window import Buffered, Sliding
from penstock.plan.step_text import step_text


@dataclass(frozen=True, slots=True)
class Lowering:
    """What computes something, and the reason."""

    by: str
    because: str


_OPERATORS = {
    "aggregate": Lowering(
        "bucket operator, kernel.windowed",
        "panes, late rows and retractions, which Spark's own aggregates do not have",
    ),
    "buffered": Lowering(
        "bucket operator, kernel.buffered",
        "Spark has no windows by count, delta or punctuation",
    ),
    "sliding": Lowering(
        "bucket operator, kernel.sliding", "Spark has no window that ends with each row"
    ),
    "dedup": Lowering(
        "bucket operator, kernel.dedup", "takes rows back, which Spark's own does not"
    ),
    "top": Lowering("bucket operator, kernel.top_n", "Spark has none over a stream"),
}
_COLUMNS = Lowering("polars, on whole columns", "no row enters the JVM")
_TABLES = Lowering("your function, on whole tables", "it takes tables")
_ROWS = Lowering("your function, row by row in Python", "it takes rows")


def operator_lowering(relation: Stateful) -> Lowering:
    """Say what computes a keyed operator."""
    match relation:
        case Aggregate(window=Buffered()):
            return _OPERATORS["buffered"]
        case Aggregate(window=Sliding()):
            return _OPERATORS["sliding"]
        case Aggregate():
            return _OPERATORS["aggregate"]
        case Dedup():
            return _OPERATORS["dedup"]
        case _:
            return _OPERATORS["top"]


def step_lowering(relation: Relation) -> Lowering:
    """Say what computes a step without state."""
    if isinstance(relation, Apply):
        return _TABLES if relation.shape in ("arrow", "polars") else _ROWS
    return _COLUMNS


def lowering_lines(physical: Physical) -> Iterator[str]:
    """Say it for every operator and step of a plan."""
    for keyed in physical.operators:
        yield _line(f"{keyed.id} {step_text(keyed.relation)}", operator_lowering(keyed.relation))
    steps = [chain.steps for scan in physical.scans for chain in scan.chains]
    steps += [chain.steps for keyed in physical.operators for chain in keyed.chains]
    lines = (_line(step_text(step), step_lowering(step)) for chain in steps for step in chain)
    yield from dict.fromkeys(lines)


def _line(subject: str, lowering: Lowering) -> str:
    return f"{subject}: {lowering.by}, since {lowering.because}"
