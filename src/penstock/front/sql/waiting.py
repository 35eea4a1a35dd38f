"""Rows that are waited for: the watermark of what a query reads lies behind the latest row."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from penstock.front.sql.reading import Rows
from penstock.front.sql.rewiring import with_streams
from penstock.model.source import Stream
from penstock.model.watermark import BoundedDisorder


def waited(rows: Rows, span: timedelta) -> Rows:
    """Let nothing be complete before rows have had so much longer to come."""
    if not span:
        return rows

    def later(stream: Stream) -> Stream:
        mark = stream.watermark
        if not isinstance(mark, BoundedDisorder):
            return stream
        return replace(stream, watermark=replace(mark, delay=mark.delay + span))

    return replace(rows, relation=with_streams(rows.relation, later))
