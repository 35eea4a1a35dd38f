"""A question about what is there answered: its steps done one after the other on frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from penstock.front.sql.pull.tree import (
    AT,
    PullDistinct,
    Pulled,
    PullFilter,
    PullGroup,
    PullJoin,
    PullModel,
    PullNothing,
    PullOver,
    PullProject,
    PullScan,
    PullSort,
    PullStep,
    PullUnion,
)
from penstock.front.sql.source import ROW_TIME
from penstock.kernel.arrival import taken_columns
from penstock.kernel.batch import Arrival, Input, Memory, run_batch
from penstock.kernel.changelog import fold_changelog, latest_by
from penstock.kernel.columns import frame_schema
from penstock.kernel.expression import lower
from penstock.kernel.port import (
    CONTROL,
    END_OF_TIME,
    OFFSET,
    ORIGIN,
    PARTITION,
    START_OF_TIME,
    TAKEN,
    Frame,
    Time,
)
from penstock.kernel.program import Program
from penstock.kernel.watermark import Watermarks
from penstock.log.port import Log
from penstock.log.record import TopicPartition
from penstock.model.expr import Call, Expr, Resolved, columns_of
from penstock.model.physical import Settings
from penstock.model.plan import Plan, Sink
from penstock.model.relation import Relation
from penstock.model.start import BEGINNING
from penstock.plan.planner import plan
from penstock.spark.inputs import input_log
from penstock.spark.program_start import start_offsets
from penstock.sql.evaluation import Evaluation
from penstock.sql.function_failure import functions_named, refuse_failed
from penstock.sql.kept_tables import KeptTables
from penstock.sql.over_rows import over, sort_columns
from penstock.sql.pull_join import joined

_SETTINGS = Settings(buckets=1, parallelism=1)
_COUNTS = ("count", "count_distinct")
Bounds = Mapping[TopicPartition, tuple[int, int]]


def answered(pulled: Pulled, log: Log, bounds: Bounds, tables: KeptTables | None = None) -> Frame:
    """Give the rows that answer a question, as of the ends of what is read."""
    with functions_named():
        return _Pulling(log, bounds, tables or KeptTables()).frame(pulled.step)


def scanned(program: Plan, log: Log, bounds: Bounds, *, table: bool) -> Frame:
    """Give what a program leaves behind when it has read all: of a table the rows there are."""
    physical = plan(program, _SETTINGS)
    files = [scan.stream.topic for scan in physical.scans if scan.stream.files is not None]
    if files:
        log = input_log(log, physical)
        ends = log.snapshot(files)
        bounds = {**bounds, **{at: (bound.start, bound.end) for at, bound in ends.items()}}
    topics = {scan.stream.topic for scan in physical.scans}
    mine = {at: ends for at, ends in bounds.items() if at.topic in topics}
    starts = {at: start for at, (start, _) in mine.items()}
    if any(scan.stream.start != BEGINNING for scan in physical.scans):
        starts = start_offsets(physical, log)
    evaluation = Evaluation(physical, log, starts)
    frames = list(evaluation.read({at: end for at, (_, end) in mine.items()}))
    frames += evaluation.finish()
    if table:
        return evaluation.table(frames)
    return pl.concat([evaluation.empty(), *frames], how="diagonal_relaxed")


class _Pulling:
    def __init__(self, log: Log, bounds: Bounds, tables: KeptTables) -> None:
        self._log = log
        self._bounds = bounds
        self._tables = tables

    def frame(self, step: PullStep) -> Frame:
        """Give the rows of a step, with its columns in order."""
        match step:
            case PullScan(kept=None):
                found = scanned(step.plan, self._log, self._bounds, table=step.table)
            case PullScan():
                found = self._kept(step, None)
            case PullFilter(PullScan() as scan, condition) if scan.kept is not None:
                found = _worked(step, self._kept(scan, condition))
            case PullNothing():
                found = pl.DataFrame({AT: [0]}, schema={AT: pl.Int64})
            case PullJoin():
                found = joined(step, self.frame(step.left), self.frame(step.right))
            case PullUnion():
                both = [self.frame(step.left), self.frame(step.right)]
                found = pl.concat(both, how="vertical_relaxed")
            case _:
                found = _worked(step, self.frame(step.source))
        return found.select(step.schema.names)

    def _kept(self, scan: PullScan, condition: Expr | None) -> Frame:
        """Give the rows of a table at hand; what a condition says of keys holds for them."""
        assert scan.kept is not None
        (source,) = scan.reads
        mine = {at: ends for at, ends in self._bounds.items() if at.topic == source.topic}
        keys = {new for new, old in scan.kept.names if old in scan.kept.keys}
        of_keys = [
            lower(part, scan.schema).fill_null(value=False)
            for part in ([] if condition is None else _parts(condition))
            if set(columns_of(part)) <= keys
        ]
        return self._tables.rows(source, scan.kept, self._log, mine, of_keys)


def _parts(condition: Expr) -> Iterator[Expr]:
    """Give the conditions that must all hold."""
    if isinstance(condition, Call | Resolved) and condition.function == "and":
        for argument in condition.arguments:
            yield from _parts(argument)
    else:
        yield condition


_OnRows = PullFilter | PullProject | PullModel | PullGroup | PullDistinct | PullSort | PullOver


def _worked(step: _OnRows, rows: Frame) -> Frame:
    match step:
        case PullFilter():
            return rows.filter(lower(step.condition, step.schema).fill_null(value=False))
        case PullProject():
            known = step.source.schema
            return rows.with_columns(lower(c.expr, known).alias(c.name) for c in step.columns)
        case PullModel() | PullGroup():
            return _folded(step, rows)
        case PullDistinct():
            names = [name for name in step.schema.names if name != AT]
            return rows.unique(subset=names, keep="first", maintain_order=True)
        case PullSort():
            return _sorted(step, rows)
        case PullOver():
            for call in step.calls:
                rows = rows.with_columns(over(rows, call, step.source.schema))
            return rows


def _folded(step: PullModel | PullGroup, rows: Frame) -> Frame:
    return _grouped(step, rows) if isinstance(step, PullGroup) else _modelled(step.relation, rows)


def _sorted(step: PullSort, rows: Frame) -> Frame:
    names = [f"_s{place}" for place in range(len(step.order))]
    keys = [
        lower(item.by, step.schema).alias(name)
        for item, name in zip(step.order, names, strict=True)
    ]
    if names:
        descending, nulls_last = sort_columns(step.order)
        rows = rows.with_columns(keys).sort(
            names, descending=descending, nulls_last=nulls_last, maintain_order=True
        )
    if step.top is not None:
        groups = [lower(key, step.schema) for key in step.top_keys] or [pl.lit(0)]
        rows = rows.filter(pl.int_range(pl.len()).over(groups) < step.top)
    return rows if step.limit is None else rows.head(step.limit)


def _grouped(step: PullGroup, rows: Frame) -> Frame:
    if rows.is_empty() and step.apart == ():
        nothing = {m.name: 0 if m.function in _COUNTS else None for m in step.measures}
        return pl.DataFrame([{**nothing, AT: 0}], schema=frame_schema(step.schema))
    known = step.source.schema
    wide = rows.with_columns(
        *(lower(key.expr, known).alias(key.name) for key in step.keys),
        pl.col(AT).alias(ROW_TIME),
    )
    found = _modelled(step.relation, wide)
    names = step.schema.names
    if step.relation.retracts:
        return fold_changelog(found, names)
    if step.apart is None:
        return found
    return latest_by(found, step.apart, names) if step.apart else found.tail(1)


def _modelled(relation: Relation, rows: Frame) -> Frame:
    """Take all rows through a step of the model, up to the end of time."""
    sink = Sink(relation, "answer", site="SELECT", late=None)
    physical = plan(Plan("question", (sink,)), _SETTINGS)
    program = Program(physical)
    memory = Memory(Watermarks.start(physical.scans, 0), Time(START_OF_TIME, 0))
    placed = rows.with_columns(
        pl.col(AT).fill_null(0).alias(TAKEN),
        pl.lit(0, dtype=ORIGIN[PARTITION]).alias(PARTITION),
        pl.int_range(rows.height, dtype=pl.Int64).alias(OFFSET),
    )
    arrivals = [
        Arrival((scan.id, 0), placed.select(taken_columns(scan, placed))) for scan in physical.scans
    ]
    taken = run_batch(program, memory, Input(0, arrivals, bounded=False))
    ends = {arrival.place: END_OF_TIME for arrival in arrivals}
    ended = run_batch(program, taken.memory, Input(0, claims=ends, bounded=False))
    (output,) = physical.outputs
    parcels = (*taken.parcels, *ended.parcels)
    refuse_failed(parcels)
    frames = [parcel.frame for parcel in parcels if parcel.target == output.id]
    empty = pl.DataFrame(schema={**frame_schema(relation.schema), **CONTROL})
    return pl.concat([empty, *frames], how="diagonal_relaxed")
