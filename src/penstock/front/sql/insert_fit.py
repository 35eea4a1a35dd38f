"""Which values a column takes without a CAST: of its type, a narrower number, a text of a time."""

from __future__ import annotations

from penstock.schema.types import STRING, Kind, Type

_WIDER = (Kind.INT32, Kind.INT64, Kind.DECIMAL, Kind.FLOAT64)
_WRITTEN = (Kind.DATE, Kind.TIME, Kind.TIMESTAMP, Kind.BYTES)
"""What is written as a text."""


def fits(found: Type | None, wanted: Type) -> bool:
    """Whether a value of a type, or NULL, can be put where another is wanted."""
    if found is None or found == wanted:
        return True
    if found.numeric and wanted.numeric:
        return _WIDER.index(found.kind) <= _WIDER.index(wanted.kind)
    if found.kind is not wanted.kind:
        return found == STRING and wanted.kind in _WRITTEN
    if wanted.kind is Kind.STRUCT:
        fields = dict(wanted.fields)
        return all(name in fields and fits(type_, fields[name]) for name, type_ in found.fields)
    if wanted.item is None:
        return True
    return fits(found.item, wanted.item) and fits(found.key or STRING, wanted.key or STRING)
