"""Jobs and their progress as JSON, readable by an older and a newer Penstock."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any, TypeVar

from penstock.errors import JobError
from penstock.jobs.job import Job, ProcessingElement
from penstock.model.progress import (
    Account,
    Instant,
    PartitionPosition,
    PartitionWatermark,
    Process,
    Progress,
    Skew,
    StateSize,
)
from penstock.model.recovery_report import RecoveryReport

T = TypeVar("T")

_PARTS: Mapping[type, Mapping[str, type]] = {
    Job: {"elements": ProcessingElement},
    Progress: {
        "partitions": PartitionWatermark,
        "accounts": Account,
        "skew": Skew,
        "states": StateSize,
        "history": Instant,
        "processes": Process,
        "positions": PartitionPosition,
    },
}
"""The values that a value is made of, by field."""


def to_json(value: Job | Progress | RecoveryReport) -> bytes:
    """Give the bytes of a document."""
    return json.dumps(asdict(value), ensure_ascii=False, indent=1).encode()


def from_json(kind: type[T], data: bytes, name: str) -> T:
    """Read a document; fields that this version does not know are left out."""
    try:
        return _value(kind, json.loads(data))
    except (ValueError, TypeError, KeyError) as error:
        raise JobError(
            "JOB_UNREADABLE",
            f'"{name}" is no record of a job: {error}',
            hint="Remove the file; the job itself is not touched by it.",
        ) from error


def from_document(kind: type[T], document: Mapping[str, Any]) -> T:
    """Give the value of a document; fields that this version does not know are left out."""
    return _value(kind, document)


def _value(kind: type[T], document: Any) -> T:  # noqa: ANN401  # whatever the file holds
    if not isinstance(document, dict):
        message = f"it holds {type(document).__name__}"
        raise TypeError(message)
    parts = _PARTS.get(kind, {})
    known = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    return kind(
        **{name: _part(parts.get(name), item) for name, item in document.items() if name in known}
    )


def _part(kind: type | None, item: Any) -> object:  # noqa: ANN401  # whatever the file holds
    if isinstance(item, list):
        return tuple(item if kind is None else (_value(kind, part) for part in item))
    return item if kind is None or item is None else _value(kind, item)
