"""What a newer row of a stream replaces an older one by, where its rows are states of things."""

from __future__ import annotations

from penstock.model.aggregate import WINDOW_END, WINDOW_START, Aggregate
from penstock.model.relation import Relation
from penstock.model.stateless import Expect, Filter, Rekey


def upsert_keys(relation: Relation) -> tuple[str, ...] | None:
    """Give the columns by which a newer result replaces an older one, where there are any."""
    match relation:
        case Filter(source=source) | Rekey(source=source) | Expect(source=source):
            return upsert_keys(source)
        case Aggregate() if relation.refinement.mode == "accumulating":
            bounds = () if relation.window is None else (WINDOW_START, WINDOW_END)
            return (*relation.keys, *bounds)
        case _:
            return None
