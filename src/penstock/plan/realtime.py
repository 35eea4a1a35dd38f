"""What of a program Spark's real-time mode can run: one way from a topic to a topic, natively.

There are no Python operators in it, at most one operator with state, and results are given with
every change. What cannot run is refused with its name.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from penstock.errors import PlanError
from penstock.model.aggregate import Aggregate
from penstock.model.dedup import Dedup
from penstock.model.expr import Call, Cast, Column, Expr, Literal
from penstock.model.measure import Measure
from penstock.model.physical import Chain, Keyed, Output, Physical, Scan
from penstock.model.plan import Sink
from penstock.model.relation import Relation
from penstock.model.source import Stream
from penstock.model.stateless import Filter, Project, Rekey, Stateless
from penstock.model.trigger import AfterRows, Always, Repeat, Trigger, WhenClosed
from penstock.model.watermark import BoundedDisorder, Perfect
from penstock.model.window import Hopping, Tumbling
from penstock.plan.capability import FUNCTIONS
from penstock.plan.step_text import step_text
from penstock.schema.codec.format import Format

MEASURES = ("count", "sum", "avg", "min", "max", "variance", "stddev", "approx_count_distinct")
"""The aggregates that Spark computes as we do, over rows that are never taken back."""
_EACH_CHANGE: tuple[Trigger, ...] = (AfterRows(1), AfterRows(1, exact=False), Always())


@dataclass(frozen=True, slots=True)
class Direct:
    """A program as real-time mode runs it: steps, perhaps one operator with state, and steps."""

    name: str
    scan: Scan
    before: tuple[Stateless, ...]
    keyed: Keyed | None
    after: tuple[Stateless, ...]
    output: Output


def direct(physical: Physical) -> Direct:
    """Give the one way through a program; a program that real-time mode cannot run is refused."""
    for more, kind in ((physical.scans[1:], "scan"), (physical.operators[1:], "operator")):
        for one in more:
            raise _refused(f'{kind} "{one.id}"', f"it takes one {kind}")
    for output in physical.outputs[1:]:
        raise _refused(f'output "{output.sink.topic}"', "it writes one topic")
    scan, output = physical.scans[0], physical.outputs[0]
    keyed = physical.operators[0] if physical.operators else None
    _require_stream(scan.stream)
    _require_sink(output.sink)
    before = _only(scan.chains)
    after = () if keyed is None else _only(keyed.chains)
    if keyed is not None:
        _require_keyed(keyed, scan.stream)
    return Direct(physical.name, scan, before, keyed, after, output)


def _only(chains: tuple[Chain, ...]) -> tuple[Stateless, ...]:
    for chain in chains[1:]:
        raise _refused(f'way "{chain.id}"', "it goes one way")
    for step in chains[0].steps:
        _require_step(step)
    return chains[0].steps


def _require_step(step: Stateless) -> None:
    match step:
        case Project(_, columns):
            _require_expressions(step, (column.expr for column in columns))
        case Filter(_, condition):
            _require_expressions(step, (condition,))
        case Rekey():
            return
        case _:
            raise _refused(f"step {step_text(step)}", "Spark runs it in Python or not at all")


def _require_expressions(step: Relation, exprs: Iterable[Expr]) -> None:
    for expr in exprs:
        match expr:
            case Column() | Literal():
                continue
            case Cast(operand):
                _require_expressions(step, (operand,))
            case Call(function, arguments) if FUNCTIONS[function].spark:
                _require_expressions(step, arguments)
            case _:
                name = getattr(expr, "function", type(expr).__name__)
                raise _refused(f"step {step_text(step)}", f'Spark has no function that is "{name}"')


def _require_keyed(keyed: Keyed, stream: Stream) -> None:
    name = f'operator "{keyed.id}" ({step_text(keyed.relation)})'
    match keyed.relation:
        case Dedup(within=None):
            return
        case Dedup():
            raise _refused(name, "it cannot forget a key after a time; leave out `within`")
        case Aggregate():
            _require_aggregate(name, keyed.relation, stream)
        case _:
            raise _refused(name, "of operators with state it has aggregates and dedup")


def _require_aggregate(name: str, found: Aggregate, stream: Stream) -> None:
    if found.refinement.mode != "accumulating" or found.panes:
        raise _refused(name, "it gives whole results, and takes none back: use accumulating()")
    if not isinstance(found.window, Tumbling | Hopping | None):
        raise _refused(name, "its windows are tumbling or hopping")
    if found.window is not None and found.window.domain != "event":
        raise _refused(name, "its windows are of event time")
    if found.window is not None and not isinstance(stream.watermark, BoundedDisorder | Perfect):
        raise _refused(name, "its watermark follows the latest row by a fixed time")
    if not _each_change(found.when):
        hint = "when_closed(early=each_row())"
        raise _refused(name, f"it gives a result with every change: use trigger({hint})")
    for measure in found.measures:
        _require_measure(name, measure)
        _require_expressions(found, measure.arguments)


def _require_measure(name: str, measure: Measure) -> None:
    if measure.function not in MEASURES:
        raise _refused(name, f'it has no aggregate that is "{measure.function}"')


def _each_change(trigger: Trigger) -> bool:
    found = trigger.early if isinstance(trigger, WhenClosed) else trigger
    return (found.trigger if isinstance(found, Repeat) else found) in _EACH_CHANGE


def _require_stream(stream: Stream) -> None:
    name = f'scan of "{stream.topic}"'
    if stream.files is not None or stream.changelog or stream.times is not None or stream.key:
        raise _refused(name, "it reads a topic of events, not files, tables or changelogs")
    if stream.start.place not in ("beginning", "latest"):
        raise _refused(name, "it begins at the beginning or at the latest record")
    _require_json(name, stream.format)


def _require_sink(sink: Sink) -> None:
    name = f'output "{sink.topic}"'
    if sink.store is not None or sink.raw or sink.gone is not None:
        raise _refused(name, "it writes a topic of rows")
    _require_json(name, sink.format)


def _require_json(name: str, format_: Format | None) -> None:
    if format_ is not None and (format_.name != "json" or format_.subject is not None):
        raise _refused(name, f'its values are JSON, and here they are "{format_}"')


def _refused(what: str, why: str) -> PlanError:
    return PlanError(
        "REALTIME_OPERATOR",
        f"{what} cannot run in real-time mode: {why}",
        hint='Change it, or leave out latency = "realtime": micro-batches run every program.',
    )
