"""The tables and plots of Nexmark, made of its record: a query a row, an engine a column."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from bench.group_chart import Group, draw_groups
from bench.nexmark.engines import LABELS, NAMES, OURS, SPARK
from bench.nexmark.questions import QUESTIONS
from bench.nexmark.record import Record, Run
from bench.sheet import Sheet
from bench.table import number

_Figure: TypeAlias = Callable[[Run], float | None]
_LONGEST = 160


@dataclass(frozen=True, slots=True)
class _Kind:
    """One thing that is measured, and whether less of it is better."""

    title: str
    figure: _Figure
    least: bool = False


_KINDS = (
    _Kind("events for each CPU-second", lambda run: run.thrift),
    _Kind("events a second, by the clock", lambda run: run.rate),
    _Kind("most memory [MiB]", lambda run: run.memory, least=True),
    _Kind("seconds to the first result", lambda run: run.first, least=True),
)


def sheets_of(details: Mapping[str, Any]) -> Iterator[Sheet]:
    """Give what was measured as tables: the engines first, then each case."""
    record = Record.of(details)
    if record.engines:
        yield _engines(record)
    for case in record.cases:
        part = record.of_case(case)
        there = [name for name in NAMES if any(run.engine == name for run in part.runs)]
        for kind in _KINDS if there else ():
            yield _sheet(case, part, kind, there)
        if part.remarks:
            yield _remarks(case, part)


def plots_of(details: Mapping[str, Any]) -> Iterator[str]:
    """Give the plots: events for each CPU-second of all engines, a plot a case."""
    record = Record.of(details)
    for case in record.cases:
        part = record.of_case(case)
        there = [name for name in NAMES if any(run.engine == name for run in part.runs)]
        groups = [_group(part, query, there) for query in part.queries()]
        drawn = [group for group in groups if group.values]
        if drawn:
            title = f"Nexmark, {case}: events for each CPU-second, best run"
            yield draw_groups(title, drawn, tuple(LABELS[name] for name in there))


def _group(record: Record, query: str, engines: list[str]) -> Group:
    values = {
        LABELS[name]: max(run.thrift for run in runs)
        for name in engines
        if (runs := record.runs_of(query, name))
    }
    return Group(query, values)


def _engines(record: Record) -> Sheet:
    rows = []
    told = ("version", "durability", "input", "emission", "results")
    for name in (name for name in NAMES if name in record.engines):
        words = record.engines[name]
        rows.append((LABELS[name], *(str(words.get(key, "")) for key in told)))
    head = ("engine", *told)
    return Sheet("Engines", head, tuple(rows), "left")


def _sheet(case: str, record: Record, kind: _Kind, engines: list[str]) -> Sheet:
    compared = kind is _KINDS[0] and OURS in engines and len(engines) > 1
    head = ("query", *(LABELS[name] for name in engines))
    rows = []
    for query in record.queries():
        cells = [_cell(record.runs_of(query, name), kind) for name in engines]
        beside = _beside(record, query) if compared else ()
        rows.append((f"{query}, {QUESTIONS[query].title}", *cells, *beside))
    if compared:
        head = (*head, "to the best durable peer", "to PySpark", "to the best with results nowhere")
        peers = (record.best_durable_peer, lambda _: SPARK, record.best_to_nowhere)
        means = (_ratio(record.mean_ratio(peer_of)) for peer_of in peers)
        rows.append(("geometric mean", *[""] * len(engines), *means))
    note = "best run; the worst in brackets"
    if any(cell.endswith("*") or "* (" in cell for row in rows for cell in row):
        note += "; * not in one go"
    return Sheet(f"{case}: {kind.title} ({note})", head, tuple(rows))


def _cell(runs: list[Run], kind: _Kind) -> str:
    values = [value for run in runs if (value := kind.figure(run)) is not None]
    if not values:
        return ""
    first, last = (min(values), max(values)) if kind.least else (max(values), min(values))
    return number(first) if len(values) == 1 else f"{number(first)} ({number(last)})"


def _beside(record: Record, query: str) -> tuple[str, str, str]:
    durable, nowhere = record.best_durable_peer(query), record.best_to_nowhere(query)
    return (
        _named(record, query, durable),
        _ratio_to(record, query, SPARK),
        _named(record, query, nowhere),
    )


def _named(record: Record, query: str, peer: str | None) -> str:
    ratio = "" if peer is None else _ratio_to(record, query, peer)
    return f"{ratio} ({LABELS[peer].partition(',')[0]})" if peer is not None and ratio else ""


def _ratio_to(record: Record, query: str, peer: str) -> str:
    ratio = record.ratio(query, peer)
    if ratio is None:
        return ""
    return number(ratio) + ("" if record.by_turns(query, peer) else " *")


def _ratio(value: float | None) -> str:
    return "" if value is None else number(value)


def _remarks(case: str, record: Record) -> Sheet:
    rows = tuple(
        (item.query, LABELS.get(item.engine, item.engine), item.kind, _short(item.reason))
        for item in sorted(record.remarks, key=lambda item: _order(item.query, item.engine))
    )
    return Sheet(f"{case}: without numbers", ("query", "engine", "kind", "why"), rows, "left")


def _order(query: str, engine: str) -> tuple[int, int]:
    return list(QUESTIONS).index(query), NAMES.index(engine) if engine in NAMES else len(NAMES)


def _short(text: str) -> str:
    plain = " ".join(text.split()).replace("|", "/")
    return plain if len(plain) <= _LONGEST else plain[: _LONGEST - 1] + "…"
