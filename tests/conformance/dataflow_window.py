"""Windows of single rows, asked of the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from penstock.kernel.assign import END, START, assign
from penstock.kernel.columns import frame_schema
from penstock.kernel.port import CONTROL, TAKEN, TIME, WEIGHT
from penstock.model.window import Session, Span, Window
from penstock.schema.types import INT64
from tests.conformance.dataflow_program import source
from tests.conformance.dataflow_words import GAP


def windows_of(window: Window, time: int | None, gap: int | None = None) -> list[Span]:
    """Give the windows of a row; the clock shows the same time."""
    schema = source(INT64).schema
    columns: dict[str, Any] = dict.fromkeys(schema.names)
    row = {**columns, GAP: gap, WEIGHT: 1, TIME: time, TAKEN: time}
    frame = pl.DataFrame([row], schema={**frame_schema(schema), **CONTROL})
    found = assign(frame, window, schema, time or 0)  # type: ignore[arg-type]
    return list(zip(found[START].to_list(), found[END].to_list(), strict=True))


def merged(window: Window, spans: Sequence[Span]) -> dict[Span, list[Span]]:
    """Give what windows become: the result, and those it is made of."""
    touching = isinstance(window, Session) and window.touching
    groups: list[list[Span]] = []
    reach = 0
    for span in sorted(spans):
        joins = span[0] <= reach if touching else span[0] < reach
        if isinstance(window, Session) and groups and joins:
            groups[-1].append(span)
        else:
            groups.append([span])
        reach = max(span[1], reach) if len(groups[-1]) > 1 else span[1]
    return {(group[0][0], max(end for _, end in group)): group for group in groups}
