"""EXPLAIN: what a query means, what is run for it, and with ANALYZE what that did and took."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from penstock.front.sql.asking import Asked
from penstock.front.sql.pull.tree import Pulled
from penstock.front.sql.source import SqlSource
from penstock.front.sql.typed_format import is_typed
from penstock.kernel.port import Counts
from penstock.log.port import Log
from penstock.log.record import TopicPartition
from penstock.model.physical import Settings
from penstock.model.plan import Plan
from penstock.plan.explain import explain
from penstock.plan.planner import plan
from penstock.sql.evaluation import Evaluation
from penstock.sql.question import pull
from penstock.sql.records import require_topic

_ONE = Settings(buckets=1, parallelism=1)


def explained(program: Plan) -> str:
    """Give every stage of a query as text."""
    return explain(program, Settings(), "all")


def analyzed(program: Plan, reads: Sequence[SqlSource], log: Log) -> str:
    """Run a query over what there is, write nothing, and tell what each step did."""
    for source in reads:
        require_topic(log, source.topic, typed=is_typed(source))
    bounds = log.snapshot(sorted({source.topic for source in reads}))
    tables = {source.topic for source in reads if source.is_table}
    places = sorted(
        (TopicPartition(*at) for at in bounds), key=lambda at: (at.topic not in tables, at)
    )
    starts = {at: bounds[at].start for at in places}
    evaluation = Evaluation(plan(program, _ONE), log, starts)
    began = time.perf_counter()
    given = sum(frame.height for frame in evaluation.read({at: bounds[at].end for at in places}))
    took = time.perf_counter() - began
    records = sum(bound.end - bound.start for bound in bounds.values())
    lines = [
        explained(program),
        "",
        f"analyzed: {records} offsets read, {given} changes given, {took * 1000:.1f} ms",
        *_counted(evaluation.counts),
    ]
    return "\n".join(lines)


def answered(asked: Asked | Pulled, log: Log) -> str:
    """Answer a question, and tell how many rows that gave and how long it took."""
    began = time.perf_counter()
    found = pull(asked, log)
    took = time.perf_counter() - began
    records = sum(found.offsets.values())
    return f"analyzed: offsets up to {records} read, {len(found.rows)} rows, {took * 1000:.1f} ms"


def _counted(counts: Mapping[str, Counts]) -> list[str]:
    return [
        f"  {step}: taken {it.taken}, passed {it.passed}, filtered {it.filtered},"
        f" late {it.late}, dead {it.dead}, given {it.given}"
        for step, it in counts.items()
    ]
