"""Joins that would never end, or that have nothing to look up, are refused before they run."""

from __future__ import annotations

from penstock.errors import ModelError
from penstock.model.coherence import check_window
from penstock.model.join import Join
from penstock.model.join_bound import AsOf, SameWindow, Whole
from penstock.model.relation import Relation
from penstock.model.table_key import table_key
from penstock.model.versions import VALID_FROM, versions_below


def check_join(join: Join) -> None:
    """Refuse a join that would have to keep every row for ever, or a lookup in no table."""
    match join.bound:
        case Whole():
            for side, relation in (("left", join.left), ("right", join.right)):
                if table_key(relation) is None:
                    raise ModelError(
                        "JOIN_UNBOUNDED",
                        f"the {side} side of a join is a stream, and nothing says how long its"
                        f" rows are to be kept for partners ({join.site})",
                        hint='Give `within="10 minutes"` or a window, or make it a table with'
                        " .to_table(key=...).",
                    )
        case AsOf() as bound:
            _require_lookup(join, table_key(join.right), join.right)
            _require_unmet_rows(join, bound)
        case SameWindow(window):
            for relation in join.inputs:
                check_window(window, relation.schema, retracts=False, site=join.site)
        case _:
            return


def _require_lookup(join: Join, key: tuple[str, ...] | None, right: Relation) -> None:
    if key is None:
        raise ModelError(
            "TABLE_KEY",
            f"a stream is joined with ({right.schema}), which is no table: it has no key"
            f" ({join.site})",
            hint="Make it a table with .to_table(key=...), or give `within=...`.",
        )
    by_time = isinstance(join.bound, AsOf) and join.bound.by == "event time"
    if by_time and versions_below(right) is not None:
        key = tuple(name for name in key if name != VALID_FROM)
    if set(key) != set(join.right_keys):
        raise ModelError(
            "JOIN_LOOKUP",
            f"a stream looks up ({', '.join(join.right_keys)}) in a table whose key is"
            f" ({', '.join(key)}) ({join.site})",
            hint="Join on the table's key, or make a table with the other key first.",
        )


def _require_unmet_rows(join: Join, bound: AsOf) -> None:
    """Refuse to give rows of the table that no left row met, where that is never certain."""
    if not join.keeps_right or (bound.corrected and not join.left.retracts):
        return
    reason = "takes rows back" if join.left.retracts else "is not corrected"
    raise ModelError(
        "JOIN_LOOKUP_HOW",
        f"a {join.how} join is to give rows of a table that no row has met, and its"
        f" {'left side' if join.left.retracts else 'result'} {reason} ({join.site})",
        hint='Give how="left" or "inner"; or as_of="event time" and corrected=True, with a left'
        " side that only adds rows.",
    )
