"""A program with states too large for a note, which are kept in files, and its rows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from penstock.model.aggregate import Aggregate
from penstock.model.expr import Column
from penstock.model.measure import Measure
from penstock.model.plan import Plan, Sink
from penstock.model.refine import Refinement
from penstock.model.trigger import EACH_ROW
from penstock.model.window import Tumbling
from tests.spark.programs import COUNT, TOTAL, Row, visits

LARGE_BATCHES = 6
_PAGES = 400
_WIDE = "x" * 1_500


def large_program() -> Plan:
    """Counts of pages with long names, by day and in all, and how many have how many visits."""
    counts = Aggregate(
        visits(),
        ("page",),
        (COUNT, TOTAL, Measure("last", "last", (Column("n"),))),
        Tumbling(timedelta(days=1)),
        EACH_ROW,
        Refinement("retracting", keep_late=timedelta(seconds=1)),
    )
    spread = Aggregate(
        counts,
        ("visits",),
        (Measure("pages", "count"), Measure("least", "min", (Column("page"),))),
        refinement=Refinement("retracting"),
    )
    # Of these a small batch takes what its keys have, without the others.
    totals = Aggregate(visits(), ("page",), (COUNT, TOTAL), trigger=EACH_ROW)
    sinks = (Sink(counts, "counts"), Sink(spread, "spread"), Sink(totals, "totals"))
    return Plan("large", sinks)


def large_rows(number: int) -> list[Row]:
    """Many pages at first; then few that change, and new ones; many; at last another day."""
    day, turn = divmod(number, LARGE_BATCHES)
    seen = {
        0: range(_PAGES),
        3: range(0, _PAGES, 2),
        LARGE_BATCHES - 1: range(5),
    }.get(turn, range(17 * turn, 17 * turn + 10))
    more = [] if turn in (0, LARGE_BATCHES - 1) else [_PAGES + turn]
    at = datetime.fromtimestamp(10 + turn, UTC) + timedelta(days=day + turn // (LARGE_BATCHES - 1))
    return [{"page": f"/{page}{_WIDE}", "n": number, "at": at} for page in [*seen, *more]]
