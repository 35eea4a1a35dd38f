"""Lineage as OpenLineage's run events (core 2-0-2), with the facets for columns and schemas."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

from penstock.jobs.job import Job, State
from penstock.watch.column_origin import Source
from penstock.watch.lineage import Dataset, JobLineage, Written

EventType: TypeAlias = Literal["START", "RUNNING", "COMPLETE", "ABORT", "FAIL"]
NAMESPACE = "penstock"
PRODUCER = "https://pypi.org/project/penstock/"
_SPEC = "https://openlineage.io/spec"
_EVENT = f"{_SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent"
_EVENTS: Mapping[State, EventType] = {
    "starting": "START",
    "running": "RUNNING",
    "stopping": "RUNNING",
    "stopped": "COMPLETE",
    "finished": "COMPLETE",
    "failed": "FAIL",
    "lost": "ABORT",
}


@dataclass(frozen=True, slots=True)
class Run:
    """A run of a job, as an event tells it; the time is in milliseconds since 1970."""

    id: str
    started_at: int
    at: int
    event: EventType
    failure: str = ""
    bounded: bool = False


def run_of(job: Job, now: int) -> Run:
    """Give the run that a record is about, in the state it is in."""
    at = now if job.ended_at is None else job.ended_at
    return Run(job.id, job.started_at, at, _EVENTS[job.state], job.failure)


def run_event(lineage: JobLineage, run: Run, namespace: str = NAMESPACE) -> dict[str, Any]:
    """Give the event of a run: what it reads and writes, whatever its state is."""
    facets: dict[str, Any] = {}
    if run.failure:
        facets["errorMessage"] = _facet(
            "1-0-1/ErrorMessageRunFacet", message=run.failure, programmingLanguage="PYTHON"
        )
    return {
        "eventType": run.event,
        "eventTime": _moment(run.at),
        "producer": PRODUCER,
        "schemaURL": _EVENT,
        "run": {"runId": run_id(namespace, run), "facets": facets},
        "job": {
            "namespace": namespace,
            "name": lineage.job,
            "facets": {
                "jobType": _facet(
                    "2-0-3/JobTypeJobFacet",
                    processingType="BATCH" if run.bounded else "STREAMING",
                    integration="PENSTOCK",
                    jobType="JOB",
                )
            },
        },
        "inputs": [_dataset(item, namespace) for item in lineage.inputs],
        "outputs": [_written(item, namespace) for item in lineage.outputs],
    }


def run_id(namespace: str, run: Run) -> str:
    """Give the id of a run: the same in all its events, whichever process sends them."""
    name = f"{PRODUCER}{namespace}/{run.id}/{run.started_at}"
    return str(uuid.uuid5(uuid.NAMESPACE_URL, name))


def _dataset(dataset: Dataset, namespace: str, **facets: Any) -> dict[str, Any]:  # noqa: ANN401
    fields = [{"name": item.name, "type": str(item.type)} for item in dataset.schema.fields]
    schema = _facet("1-1-1/SchemaDatasetFacet", fields=fields)
    return {**_named(dataset.kind, dataset.name, namespace), "facets": {"schema": schema, **facets}}


def _written(written: Written, namespace: str) -> dict[str, Any]:
    lineage = written.lineage
    fields = {
        column: {
            "inputFields": [
                _input(source, namespace, "DIRECT", how) for source, how in origins.items()
            ]
        }
        for column, origins in lineage.columns.items()
    }
    decided = sorted(lineage.decides, key=lambda item: (str(item[0]), item[1]))
    facet = _facet(
        "1-2-0/ColumnLineageDatasetFacet",
        fields=fields,
        dataset=[_input(source, namespace, "INDIRECT", why) for source, why in decided],
    )
    return _dataset(written.dataset, namespace, columnLineage=facet)


def _input(source: Source, namespace: str, kind: str, subtype: str) -> dict[str, Any]:
    done = {"type": kind, "subtype": subtype, "description": "", "masking": False}
    place = _named(source.kind, source.name, namespace)
    return {**place, "field": source.column, "transformations": [done]}


def _named(kind: str, name: str, namespace: str) -> dict[str, str]:
    return {"namespace": namespace if kind == "topic" else kind, "name": name}


def _facet(schema: str, **values: Any) -> dict[str, Any]:  # noqa: ANN401  # whatever a facet holds
    name = schema.rpartition("/")[2]
    url = f"{_SPEC}/facets/{schema}.json#/$defs/{name}"
    return {"_producer": PRODUCER, "_schemaURL": url, **values}


def _moment(at: int) -> str:
    text = datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")
