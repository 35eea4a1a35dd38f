"""Which types can become which: the casts there are."""

from __future__ import annotations

from penstock.errors import ModelError
from penstock.schema.types import Kind, Type

_WHOLE = (Kind.INT32, Kind.INT64)
_NUMBERS = (*_WHOLE, Kind.FLOAT64, Kind.DECIMAL)

CASTS: frozenset[tuple[Kind, Kind]] = frozenset(
    {
        *((one, other) for one in _NUMBERS for other in (*_NUMBERS, Kind.BOOLEAN, Kind.STRING)),
        *((Kind.BOOLEAN, other) for other in (*_NUMBERS, Kind.STRING)),
        *(
            (Kind.STRING, other)
            for other in (*_NUMBERS, Kind.BOOLEAN, Kind.DATE, Kind.TIMESTAMP, Kind.BYTES)
        ),
        *((Kind.TIMESTAMP, other) for other in (*_WHOLE, Kind.FLOAT64, Kind.STRING, Kind.DATE)),
        *((one, Kind.TIMESTAMP) for one in _WHOLE),
        (Kind.DATE, Kind.STRING),
        (Kind.DATE, Kind.TIMESTAMP),
        (Kind.BYTES, Kind.STRING),
        (Kind.ARRAY, Kind.ARRAY),
    }
)


def check_cast(source: Type, target: Type, site: str) -> None:
    """Refuse a cast that has no meaning."""
    if source == target:
        return
    if (source.kind, target.kind) not in CASTS:
        place = f" ({site})" if site else ""
        raise ModelError(
            "CAST_MISSING",
            f"a value of type {source} cannot become {target}{place}",
            hint="Cast it to a string first, or choose a type of the same kind.",
        )
    if source.item is not None and target.item is not None:
        check_cast(source.item, target.item, site)
