"""The lineage of a job: what it reads, what it writes, and which columns are made of which."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from penstock.model.enrich import Enrich
from penstock.model.physical import Physical
from penstock.model.plan import Plan, Sink
from penstock.model.source import Stream
from penstock.schema.schema import Schema
from penstock.watch.column_origin import Lineage, Source, lineage_of

_KINDS = ("topic", "file", "store", "static")


@dataclass(frozen=True, slots=True)
class Dataset:
    """Something that is read or written; `kind` is topic, file, store or static."""

    kind: str
    name: str
    schema: Schema


@dataclass(frozen=True, slots=True)
class Written:
    """A dataset that a job writes, and where its columns come from."""

    dataset: Dataset
    lineage: Lineage


@dataclass(frozen=True, slots=True)
class JobLineage:
    """What a job reads and writes."""

    job: str
    inputs: tuple[Dataset, ...]
    outputs: tuple[Written, ...]


def plan_of(physical: Physical) -> Plan:
    """Give the program that a physical plan runs."""
    return Plan(physical.name, tuple(output.sink for output in physical.outputs))


def job_lineage(program: Plan, job: str = "") -> JobLineage:
    """Give the lineage of a program, under the name of its job."""
    inputs: dict[tuple[str, str], Dataset] = {}
    for found in _inputs(program):
        place = (found.kind, found.name)
        known = inputs.get(place, found).schema
        inputs[place] = Dataset(*place, known.with_fields(found.schema.fields))
    outputs = tuple(Written(_output(sink), lineage_of(sink.relation)) for sink in program.sinks)
    return JobLineage(job or program.name, tuple(inputs.values()), outputs)


def graph_lines(jobs: Iterable[JobLineage]) -> Iterator[str]:
    """Give the graph of jobs and what is between them, as DOT has it."""
    yield "digraph lineage {"
    yield "  rankdir=LR;"
    for job in jobs:
        yield f"  {_quoted('job', job.job)} [shape=box, label={_text(job.job)}];"
        for dataset in job.inputs:
            yield f"  {_node(dataset)} -> {_quoted('job', job.job)};"
        for written in job.outputs:
            yield f"  {_quoted('job', job.job)} -> {_node(written.dataset)};"
    yield "}"


def column_texts(written: Written) -> Mapping[str, list[str]]:
    """Give for each column the names of those that it is made of."""
    return {
        column: [f"{_place(source)} ({how.lower()})" for source, how in origins.items()]
        for column, origins in written.lineage.columns.items()
    }


def lineage_document(found: JobLineage) -> dict[str, Any]:
    """Give a lineage as JSON has it."""
    return {
        "job": found.job,
        "reads": [{item.kind: item.name, "columns": item.schema.names} for item in found.inputs],
        "writes": [
            {
                written.dataset.kind: written.dataset.name,
                "columns": {
                    column: [
                        {source.kind: source.name, "column": source.column, "how": how.lower()}
                        for source, how in origins.items()
                    ]
                    for column, origins in written.lineage.columns.items()
                },
                "decided_by": [
                    {source.kind: source.name, "column": source.column, "why": why.lower()}
                    for source, why in sorted(written.lineage.decides, key=str)
                ],
            }
            for written in found.outputs
        ],
    }


def read_lineage(document: Mapping[str, Any]) -> JobLineage:
    """Read what `lineage_document` gave; the types of columns are not said there."""
    return JobLineage(
        document["job"],
        tuple(Dataset(*_kind_of(item), Schema(())) for item in document["reads"]),
        tuple(
            Written(
                Dataset(*_kind_of(item), Schema(())),
                Lineage(
                    {
                        column: {
                            Source(*_kind_of(origin), origin["column"]): origin["how"].upper()
                            for origin in origins
                        }
                        for column, origins in item["columns"].items()
                    },
                    frozenset(),
                ),
            )
            for item in document["writes"]
        ),
    )


def _kind_of(item: Mapping[str, Any]) -> tuple[str, str]:
    kind = next(name for name in item if name in _KINDS)
    return kind, item[kind]


def _inputs(program: Plan) -> Iterator[Dataset]:
    for step in program.walk():
        if isinstance(step, Stream):
            kind = "topic" if step.files is None else "file"
            yield Dataset(kind, step.files or step.topic, step.schema)
        elif isinstance(step, Enrich):
            yield Dataset("static", step.table.name, step.table.columns)


def _output(sink: Sink) -> Dataset:
    if sink.store is None:
        return Dataset("topic", sink.topic, sink.relation.schema)
    return Dataset("store", f"{sink.store}: {sink.topic}", sink.relation.schema)


def _place(source: Source) -> str:
    prefix = "" if source.kind == "topic" else f"{source.kind} "
    return f"{prefix}{source.name}.{source.column}"


def _node(dataset: Dataset) -> str:
    return _quoted(dataset.kind, dataset.name)


def _quoted(kind: str, name: str) -> str:
    return _text(name if kind == "topic" else f"{kind}:{name}")


def _text(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
