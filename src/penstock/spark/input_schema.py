"""Whether the topics that a program reads are what it takes them for."""

from __future__ import annotations

import pyarrow as pa

from penstock.errors import SchemaError, did_you_mean
from penstock.kernel.arrival import needed_columns
from penstock.kernel.port import WEIGHT
from penstock.log.port import Log
from penstock.log.rows import row_schema
from penstock.model.physical import Physical, Scan
from penstock.schema.arrow import type_of
from penstock.schema.schema import Field
from penstock.schema.types import INT32, INT64

_WIDENED = {(INT32, INT64)}


def require_inputs(log: Log, physical: Physical) -> None:
    """Refuse to read topics that lack a column the program needs, or have it of another type."""
    for scan in physical.scans:
        _require_columns(scan, row_schema(log.topic(scan.stream.topic)))


def _require_columns(scan: Scan, found: pa.Schema) -> None:
    topic, stream = scan.stream.topic, scan.stream
    weights = [Field(WEIGHT, INT32)] if stream.changelog else []
    for field in [*map(stream.columns.field, needed_columns(scan)), *weights]:
        name, wanted = field.name, field.type
        if name not in found.names:
            raise SchemaError(
                "INPUT_SCHEMA",
                f'topic "{topic}" has no column "{name}" ({stream.site})',
                hint=did_you_mean(name, found.names) or f"It has {', '.join(found.names)}.",
            )
        held = type_of(name, found.field(name).type)
        if held != wanted and (held, wanted) not in _WIDENED:
            raise SchemaError(
                "INPUT_SCHEMA",
                f'column "{name}" of topic "{topic}" is {held}, the program says {wanted}'
                f" ({stream.site})",
                hint="Declare the stream with the type that the topic has.",
            )
