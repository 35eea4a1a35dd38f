"""What a column or an expression must be to serve as a condition or as a time."""

from __future__ import annotations

from penstock.errors import ModelError
from penstock.model.expr import Expr
from penstock.model.signature import expr_type
from penstock.schema.schema import Schema
from penstock.schema.types import BOOLEAN, Kind


def require_condition(condition: Expr, schema: Schema, site: str) -> None:
    """Refuse a condition that is not true or false."""
    found = expr_type(condition, schema, site)
    if found != BOOLEAN:
        raise ModelError(
            "CONDITION_TYPE",
            f"a condition is of type {found} ({site})",
            hint='Compare it with something, as in col("n") > 0.',
        )


def require_event_time(column: str, schema: Schema, site: str, role: str = "event time") -> None:
    """Refuse a column that does not tell a time."""
    found = schema.field(column, role=role, site=site)
    if found.type.kind not in (Kind.TIMESTAMP, Kind.INT64):
        raise ModelError(
            "EVENT_TIME_TYPE",
            f'{role} "{column}" is of type {found.type} ({site})',
            hint="Use a timestamp, or an int64 of milliseconds since 1970.",
        )
