"""EXPLAIN of a question about what is there: its steps, and the programs that it reads by."""

from __future__ import annotations

from penstock.front.sql.pull.tree import (
    Pulled,
    PullGroup,
    PullJoin,
    PullOver,
    PullScan,
    PullSort,
    PullStep,
    steps_of,
)
from penstock.sql.explaining import explained


def explained_pull(pulled: Pulled) -> str:
    """Give the steps of a question in their order, and how its sources are read."""
    steps = [f"  {number}. {_words(step)}" for number, step in enumerate(steps_of(pulled.step), 1)]
    programs = [explained(scan.plan) for scan in pulled.scans]
    return "\n".join(["answered once, from what is there:", *steps, "", *programs]).rstrip()


def _words(step: PullStep) -> str:
    match step:
        case PullScan(reads=reads):
            return f"read {', '.join(source.name for source in reads) or 'files'}"
        case PullJoin(how=how, pairs=pairs):
            return f"{how} join by {len(pairs)} equalities"
        case PullGroup(keys=keys, measures=measures):
            return f"group by {len(keys)} keys, {len(measures) - 1} aggregates"
        case PullSort(order=order, limit=limit, top=top):
            parts = [f"sort by {len(order)}"] if order else []
            parts += [f"the first {top} of each group"] if top is not None else []
            parts += [f"the first {limit}"] if limit is not None else []
            return ", ".join(parts)
        case PullOver(calls=calls):
            return ", ".join(f"{call.function} over rows" for call in calls)
        case _:
            return type(step).__name__.removeprefix("Pull").lower()
