"""How each operator, step, function and aggregate of a plan is computed, and why so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from penstock.model.aggregate import Aggregate
from penstock.model.dedup import Dedup
from penstock.model.expr import Call, Cast, Expr, Lambda, Resolved
from penstock.model.join import Join
from penstock.model.join_bound import AsOf
from penstock.model.latest import Latest
from penstock.model.match import Match
from penstock.model.measure import Measure
from penstock.model.physical import Chain, Physical, Stateful
from penstock.model.process import Process
from penstock.model.relation import Relation
from penstock.model.settle import Settle
from penstock.model.stateless import Apply, Expect, Filter, Project, Retire
from penstock.model.top_n import TopN
from penstock.model.user_code import Trial
from penstock.model.versions import Versions
from penstock.model.window import Buffered, Sliding
from penstock.plan.capability import (
    AGGREGATES,
    BY_COLUMN,
    BY_ROW,
    CAST,
    FUNCTIONS,
    RELATIONS,
    SQL,
    Capability,
)
from penstock.plan.step_text import step_text

_MODULES: Mapping[type[Relation], str] = {
    Dedup: "kernel.dedup",
    TopN: "kernel.top_n",
    Latest: "kernel.latest",
    Versions: "kernel.versions",
    Join: "kernel.join",
    Process: "kernel.process",
    Match: "kernel.match",
    Settle: "kernel.settle",
}


def lowering_lines(physical: Physical) -> Iterator[str]:
    """Say it for every operator and step of a plan, once each."""
    for keyed in physical.operators:
        yield from _operator(keyed.id, keyed.relation)
    chains: list[Chain] = [chain for scan in physical.scans for chain in scan.chains]
    chains += [chain for keyed in physical.operators for chain in keyed.chains]
    said: set[str] = set()
    for step in (step for chain in chains for step in chain.steps):
        if step_text(step) not in said:
            said.add(step_text(step))
            yield from _step(step)


def kernel_module(relation: Stateful) -> str:
    """Name the module that computes a keyed operator."""
    match relation:
        case Aggregate(window=Buffered()):
            return "kernel.buffered"
        case Aggregate(window=Sliding()):
            return "kernel.sliding"
        case Aggregate():
            return "kernel.windowed"
        case Join(bound=AsOf()):
            return "kernel.as_of"
        case _:
            return _MODULES[type(relation)]


def _operator(name: str, relation: Stateful) -> Iterator[str]:
    known = RELATIONS[type(relation).__name__]
    yield f"{name} {step_text(relation)}: {known.columnar}, {kernel_module(relation)}"
    limits = known.limits.removeprefix("Spark: ")
    yield f"  Spark's {known.spark} is not taken: {limits}" if known.spark else f"  {limits}"
    if isinstance(relation, Aggregate):
        for measure in relation.measures:
            yield f"  {_measure(measure)}"
        arguments = [argument for item in relation.measures for argument in item.arguments]
        yield from _functions(arguments)


def _measure(measure: Measure) -> str:
    known = AGGREGATES[measure.function]
    like = f" (Spark's {known.spark})" if known.spark else ""
    return f"{measure.function}{like}: {known.columnar}{_limits(known)}"


def _step(step: Relation) -> Iterator[str]:
    known = RELATIONS[type(step).__name__]
    yield f"{step_text(step)}: {_place(step, known)}"
    match step:
        case Project(_, columns):
            yield from _functions(column.expr for column in columns)
        case Filter(_, condition) | Retire(_, condition) | Expect(_, _, condition):
            yield from _functions((condition,))
        case _:
            return


def _place(step: Relation, known: Capability) -> str:
    if not isinstance(step, Apply):
        computed = known.columnar.startswith("polars")
        return f"{known.columnar}, so that no row enters the JVM" if computed else known.columnar
    if step.shape in ("arrow", "polars"):
        return "your function, on whole tables"
    return "your function, row by row in Python: a function of tables would be faster"


def _functions(exprs: Iterable[Expr]) -> Iterator[str]:
    found = {name: known for expr in exprs for name, known in _used(expr)}
    for name, known in found.items():
        like = f", equal to Spark's {known.spark}" if known.spark else ""
        yield f"  {name}: {known.columnar}{like}{_limits(known)}"


def _used(expr: Expr) -> Iterator[tuple[str, Capability]]:
    if isinstance(expr, Cast):
        yield "cast", CAST
        yield from _used(expr.operand)
    if isinstance(expr, Lambda):
        yield from _used(expr.body)
    if isinstance(expr, Call | Resolved):
        known = FUNCTIONS[expr.function] if isinstance(expr, Call) else _of_sql(expr)
        yield expr.function if isinstance(expr, Call) else f"sql {expr.function}", known
        for argument in expr.arguments:
            yield from _used(argument)


def _of_sql(expr: Resolved) -> Capability:
    if expr.user is None:
        return SQL
    code = expr.user.code if isinstance(expr.user, Trial) else expr.user
    return BY_COLUMN if code.batch and not code.collected else BY_ROW


def _limits(known: Capability) -> str:
    return f"; {known.limits}" if known.limits else ""
