"""Which benches have more to show than their measures, and who makes pages of that."""

from __future__ import annotations

from collections.abc import Iterator

from bench.nexmark import tables
from bench.result import Result
from bench.sheet import Sheet


def sheets_of(result: Result) -> Iterator[Sheet]:
    """Give the tables of a result beside that of its measures."""
    if result.name == "nexmark":
        yield from tables.sheets_of(result.details)


def plots_of(result: Result) -> Iterator[str]:
    """Give the plots of a result beside those of its measures."""
    if result.name == "nexmark":
        yield from tables.plots_of(result.details)
