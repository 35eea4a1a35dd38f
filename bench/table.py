"""A result as rows of words: the same in the terminal and in docs/performance.md."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from bench.result import Measure, Result, spread

HEAD = ("measured", "unit", "Penstock", "baseline", "ratio", "target", "met")
_NONE = ""


def rows_of(result: Result) -> list[tuple[str, ...]]:
    """One row a measure: medians, with the least and the most in brackets."""
    return [_row(measure) for measure in result.measures]


def show(result: Result, console: Console) -> None:
    """Print a result as a table."""
    title = f"{result.title} ({result.scale})"
    table = Table(title=title, title_justify="left", caption=_sizes(result))
    for number, name in enumerate(HEAD):
        table.add_column(name, justify="left" if number == 0 else "right")
    for row in rows_of(result):
        table.add_row(*row)
    console.print(table)


def number(value: float) -> str:
    """A number with as many digits as mean something."""
    if abs(value) >= 10_000:
        return f"{value:,.0f}"
    if abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.3g}"


def _row(measure: Measure) -> tuple[str, ...]:
    target = measure.target
    return (
        measure.label,
        measure.unit,
        _spread(measure.ours),
        _spread(measure.baseline),
        _spread(measure.ratios),
        _NONE if target is None else f"{target.bound} {number(target.limit)}",
        {None: _NONE, True: "yes", False: "no"}[measure.met],
    )


def _spread(values: tuple[float, ...]) -> str:
    if not values:
        return _NONE
    middle, least, most = spread(values)
    if len(values) == 1:
        return number(middle)
    return f"{number(middle)} ({number(least)} to {number(most)})"


def _sizes(result: Result) -> str:
    return ", ".join(f"{name}: {value}" for name, value in result.sizes.items())
