"""Division that rounds once."""

from __future__ import annotations

import polars as pl


def quotient(dividend: pl.Expr, divisor: pl.Expr) -> pl.Expr:
    """Divide floating-point numbers; by zero is null."""
    # By a constant polars multiplies with its inverse, which rounds twice: 1.5 / 1e5 would
    # depend on how the divisor was written. Added to zeros, the constant becomes a column.
    spread = divisor + dividend.is_null().cast(pl.Float64)
    return dividend / pl.when(spread != 0.0).then(spread)
