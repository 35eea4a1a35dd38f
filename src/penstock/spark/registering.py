"""The schemas of a program's results are registered before it writes any of them."""

from __future__ import annotations

from penstock.model.physical import Physical
from penstock.schema.codec.codec_cache import CodecCache
from penstock.schema.codec.format import Format
from penstock.schema.schema import Schema
from penstock.schema.writer_schema import writing_codec
from penstock.spark.output import outlets


def register_outputs(physical: Physical, codecs: CodecCache) -> None:
    """Register what a program writes; where a registry refuses it nothing is written.

    Formats without a subject are tried as well: what they cannot write is refused here.
    """
    for outlet in outlets(physical).values():
        writing = outlet.writing
        if writing is None:
            continue
        _register(writing.format, writing.columns, codecs)
        if writing.key_format is not None and outlet.keys:
            keys = Schema(tuple(writing.columns.field(key) for key in outlet.keys))
            _register(writing.key_format, keys, codecs)


def _register(format: Format, columns: Schema, codecs: CodecCache) -> None:  # noqa: A002
    schemas = None if format.subject is None else codecs.schemas
    writing_codec(format, columns, schemas)
