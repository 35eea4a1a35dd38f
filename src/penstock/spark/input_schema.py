"""Whether the topics that a program reads are what it takes them for."""

from __future__ import annotations

import pyarrow as pa

from penstock.errors import SchemaError, did_you_mean
from penstock.kernel.arrival import needed_columns
from penstock.kernel.decode import Decoders
from penstock.kernel.port import WEIGHT
from penstock.log.port import Log
from penstock.log.record import DELETED_COLUMN, PARTITION_COLUMN
from penstock.log.rows import row_schema
from penstock.model.physical import Physical, Scan
from penstock.schema.arrow import type_of
from penstock.schema.codec.codec_cache import CodecCache
from penstock.schema.schema import Field
from penstock.schema.types import INT32, INT64

_PARTITION = pa.field(PARTITION_COLUMN, pa.int32())
_WIDENED = {(INT32, INT64)}


def require_inputs(log: Log, physical: Physical) -> None:
    """Refuse to read topics that lack a column the program needs, or have it of another type."""
    for scan in physical.scans:
        topic = log.topic(scan.stream.topic)
        if scan.stream.format is None:
            # Which partition a record is in is known, though no record says it.
            _require_columns(scan, row_schema(topic).append(_PARTITION))
        elif topic.schema is not None:
            raise SchemaError(
                "INPUT_SCHEMA",
                f'topic "{topic.name}" has columns, and is read as {scan.stream.format}'
                f" ({scan.stream.site})",
                hint="Leave out the format.",
            )


def require_formats(physical: Physical, codecs: CodecCache) -> None:
    """Refuse formats that a program cannot read its columns by, before its workers are to."""
    decoders = Decoders(physical, codecs)
    for scan in physical.scans:
        decoders.of(scan.id)


def _require_columns(scan: Scan, found: pa.Schema) -> None:
    topic, stream = scan.stream.topic, scan.stream
    weights = [Field(WEIGHT, INT32)] if stream.changelog else []
    for field in [*map(stream.columns.field, needed_columns(scan)), *weights]:
        name, wanted = field.name, field.type
        if name not in found.names:
            told = did_you_mean(name, found.names) or f"It has {', '.join(found.names)}."
            untyped = DELETED_COLUMN not in found.names
            raise SchemaError(
                "INPUT_SCHEMA",
                f'topic "{topic}" has no column "{name}" ({stream.site})',
                hint='It holds bytes: say how they are read, as in format="json".'
                if untyped
                else told,
            )
        held = type_of(name, found.field(name).type)
        if held != wanted and (held, wanted) not in _WIDENED:
            raise SchemaError(
                "INPUT_SCHEMA",
                f'column "{name}" of topic "{topic}" is {held}, the program says {wanted}'
                f" ({stream.site})",
                hint="Declare the stream with the type that the topic has.",
            )
