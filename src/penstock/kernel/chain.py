"""Steps without state, one after the other: each counts what it let through."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias

import polars as pl

from penstock.errors import RunError
from penstock.kernel.apply import apply
from penstock.kernel.change_rows import change_rows, row_changes
from penstock.kernel.columns import control_columns
from penstock.kernel.dead import Failure, letters, readable_json
from penstock.kernel.enrich import Enricher
from penstock.kernel.expression import lower
from penstock.kernel.port import END_OF_TIME, START_OF_TIME, TIME, WEIGHT, Counts, Frame
from penstock.kernel.repeated import repeats
from penstock.kernel.user_calls import UserCall, UserFailed, stays, taken_out, with_calls
from penstock.model.change_rows import ChangeRows, RowChanges
from penstock.model.enrich import Enrich, enriched_schema
from penstock.model.expr import Column, Expr
from penstock.model.signature import expr_type
from penstock.model.stateless import (
    Apply,
    Expect,
    Filter,
    Project,
    Rekey,
    Restamp,
    Retire,
    Stateless,
    Union,
    Updates,
)
from penstock.schema.schema import Field, Schema
from penstock.schema.types import Kind


@dataclass(frozen=True, slots=True)
class ChainResult:
    """The rows at the end of a chain, the letters of those that failed, and each step's counts."""

    frame: Frame
    dead: Frame | None = None
    counts: Mapping[str, Counts] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Passed:
    frame: Frame
    dead: Frame | None = None
    filtered: int = 0


_Work: TypeAlias = Callable[[Frame], _Passed]
_COMMON = pl.QueryOptFlags.none()
_COMMON.comm_subexpr_elim = True


class ChainRunner:
    """Does a chain's steps on frames with the columns of `schema` and control columns.

    The counts of its steps go by the chain's id and the number of the step in it.
    """

    def __init__(self, steps: Sequence[Stateless], schema: Schema, *, id: str = "") -> None:  # noqa: A002
        self._work: list[tuple[str, _Work]] = []
        for number, step in enumerate(steps):
            name = f"{id}.{number}"
            self._work.append((name, _work_of(step, schema, name)))
            schema = schema_after(step, schema)
        self.schema = schema

    def run(self, frame: Frame) -> ChainResult:
        """Take rows through all steps."""
        counts: dict[str, Counts] = {}
        dead: list[Frame] = []
        for name, work in self._work:
            passed = work(frame)
            died = 0 if passed.dead is None else passed.dead.height
            kept = frame.height - passed.filtered - died
            counts[name] = Counts(
                taken=frame.height,
                passed=kept,
                filtered=passed.filtered,
                dead=died,
                given=passed.frame.height,
            )
            if passed.dead is not None and died:
                dead.append(passed.dead)
            frame = passed.frame
        return ChainResult(frame, pl.concat(dead) if dead else None, counts)


def schema_after(step: Stateless, schema: Schema) -> Schema:
    """Give the columns after a step, of those that were read."""
    match step:
        case Project(columns=columns):
            return Schema(
                tuple(
                    schema.field(column.expr.name)
                    if column.expr == Column(column.name)
                    else Field(column.name, expr_type(column.expr, schema))
                    for column in columns
                )
            )
        case Apply(shape="filter"):
            return schema
        case Apply(gives=gives):
            return gives
        case Enrich():
            return enriched_schema(step, schema)
        case _:
            return schema


def _work_of(step: Stateless, schema: Schema, name: str) -> _Work:
    match step:
        case Project(columns=columns):
            return _computing([it.expr for it in columns], step, schema)
        case Filter(condition=condition):
            return _computing([condition], step, schema)
        case Updates() | Retire() | Enrich() | ChangeRows() | RowChanges():
            return _table_work(step, schema)
        case Apply() | Restamp() | Expect():
            return _checking_work(step, schema, name)
        case Union() | Rekey():
            return _Passed


def _computing(exprs: Sequence[Expr], step: Project | Filter, schema: Schema) -> _Work:
    """Give the work of expressions; the user's functions in them are called first."""
    plain, calls, known = taken_out(exprs, schema)
    made = [lower(expr, known) for expr in plain]
    work: _Work = partial(_filter, made[0])
    if isinstance(step, Project):
        named = [item.alias(it.name) for item, it in zip(made, step.columns, strict=True)]
        work = partial(_project_once if repeats(plain) else _project, named)
    if any(map(stays, plain)):
        work = partial(_halved, work, step.site, known)
    if not calls:
        return work
    lowered = [[lower(item, known) for item in call.arguments] for call in calls]
    return partial(_calling, _Calling(tuple(calls), lowered, schema, step.site), work)


def _halved(work: _Work, site: str, schema: Schema, frame: Frame) -> _Passed:
    """Ask with halves where a function inside of a lambda fails, until the row is known."""
    try:
        return work(frame)
    except UserFailed as error:
        why, _, where = str(error).partition("\n")
        if frame.height == 1:
            failure = Failure(0, why, where.split("\n\nThis error occurred")[0].strip())
            dead = letters(frame, schema.names, [failure], step="lambda", site=site)
            return replace(work(frame.clear()), dead=dead)
    half = frame.height // 2
    one = _halved(work, site, schema, frame[:half])
    other = _halved(work, site, schema, frame[half:])
    dead_rows = [it.dead for it in (one, other) if it.dead is not None]
    return _Passed(
        pl.concat([one.frame, other.frame]),
        pl.concat(dead_rows) if dead_rows else None,
        one.filtered + other.filtered,
    )


@dataclass(frozen=True, slots=True)
class _Calling:
    """Calls of the user's functions, and where they are written."""

    calls: tuple[UserCall, ...]
    lowered: Sequence[Sequence[pl.Expr]]
    schema: Schema
    site: str

    @property
    def name(self) -> str:
        """The functions."""
        return ", ".join(dict.fromkeys(call.name for call in self.calls))


def _calling(calling: _Calling, work: _Work, frame: Frame) -> _Passed:
    called, failures, kept = with_calls(frame, calling.calls, calling.lowered)
    dead = None
    if failures:
        names = calling.schema.names
        dead = letters(frame, names, failures, step=calling.name, site=calling.site)
        called = called[kept]
    passed = work(called)
    columns = [call.column for call in calling.calls]
    parked = [it for it in (dead, passed.dead) if it is not None]
    return replace(
        passed,
        frame=passed.frame.drop(columns, strict=False),
        dead=pl.concat(parked) if parked else None,
    )


def _table_work(step: Updates | Retire | Enrich | ChangeRows | RowChanges, schema: Schema) -> _Work:
    """Give the work of a step that has to do with tables."""
    match step:
        case Updates():
            return partial(_filter, pl.col(WEIGHT) > 0)
        case Retire(condition=condition):
            return partial(_retire, lower(condition, schema))
        case Enrich():
            return partial(_enrich, Enricher(step, schema))
        case ChangeRows():
            return partial(_change_rows, step, schema)
        case RowChanges(gone=gone):
            return partial(_row_changes, gone)


def _checking_work(step: Apply | Restamp | Expect, schema: Schema, name: str) -> _Work:
    """Give the work of a step that may park rows."""
    match step:
        case Apply():
            return partial(_apply, step, schema, name)
        case Restamp():
            return partial(_restamp, step, schema, name)
        case Expect():
            return partial(_expect, step, lower(step.condition, schema), schema)


def _project(made: Sequence[pl.Expr], frame: Frame) -> _Passed:
    return _Passed(frame.select(*made, *control_columns(frame)))


def _project_once(made: Sequence[pl.Expr], frame: Frame) -> _Passed:
    """Compute what several columns have in common once, which an eager frame does not."""
    lazy = frame.lazy().select(*made, *control_columns(frame))
    return _Passed(lazy.collect(optimizations=_COMMON))


def _filter(condition: pl.Expr, frame: Frame) -> _Passed:
    kept = frame.filter(condition)
    return _Passed(kept, filtered=frame.height - kept.height)


def _retire(condition: pl.Expr, frame: Frame) -> _Passed:
    holds = condition.fill_null(value=False)
    weight = pl.when(holds).then(pl.col(WEIGHT)).otherwise(-1).cast(pl.Int32)
    return _Passed(frame.with_columns(weight.alias(WEIGHT)))


def _change_rows(step: ChangeRows, schema: Schema, frame: Frame) -> _Passed:
    condition = None if step.condition is None else lower(step.condition, schema)
    rows = change_rows(frame, step.gone, step.keys, condition)
    return _Passed(rows, filtered=frame.height - rows.height)


def _row_changes(gone: str, frame: Frame) -> _Passed:
    return _Passed(row_changes(frame, gone))


def _enrich(enricher: Enricher, frame: Frame) -> _Passed:
    done = enricher.run(frame)
    return _Passed(done.frame, filtered=done.filtered)


def _apply(step: Apply, schema: Schema, name: str, frame: Frame) -> _Passed:
    if frame.is_empty() and step.shape == "filter":
        return _Passed(frame)
    done = apply(step, frame, schema.names)
    dead = None
    if done.failures:
        dead = letters(frame, schema.names, done.failures, step=step.name or name, site=step.site)
    return _Passed(done.frame, dead, done.filtered)


def _expect(step: Expect, condition: pl.Expr, schema: Schema, frame: Frame) -> _Passed:
    met = frame.select(condition.fill_null(value=False).alias("met")).to_series()
    if met.len() != frame.height:
        met = met.new_from_index(0, frame.height)
    if met.all():
        return _Passed(frame)
    kept, broken = frame.filter(met), frame.filter(~met)
    if step.otherwise == "drop":
        return _Passed(kept, filtered=broken.height)
    fact = f'[EXPECTATION_FAILED] the row does not meet the expectation "{step.name}"'
    if step.otherwise == "park":
        failures = [Failure(place, fact) for place in range(broken.height)]
        dead = letters(broken, schema.names, failures, step=step.name, site=step.site)
        return _Passed(kept, dead)
    row = readable_json(broken.head(1), schema.names)[0]
    raise RunError(
        "EXPECTATION_FAILED",
        f'a row does not meet the expectation "{step.name}" ({step.site}): {row}',
        hint="Correct the source, or let the expectation drop or park such rows.",
    )


def _restamp(step: Restamp, schema: Schema, name: str, frame: Frame) -> _Passed:
    time = pl.col(step.event_time)
    if schema.field(step.event_time).type.kind is Kind.TIMESTAMP:
        time = time.dt.epoch("ms")
    usable = frame.select(
        time.is_between(START_OF_TIME, END_OF_TIME - 1).fill_null(value=False)
    ).to_series()
    stamped = frame.with_columns(time.cast(pl.Int64).alias(TIME))
    if usable.all():
        return _Passed(stamped)
    parked = frame.filter(~usable)
    fact = f'[EVENT_TIME_NULL] event time "{step.event_time}" is null or out of range'
    failures = [Failure(place, fact) for place in range(parked.height)]
    dead = letters(parked, schema.names, failures, step=name, site=step.site)
    return _Passed(stamped.filter(usable), dead)
