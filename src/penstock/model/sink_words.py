"""A sink in words."""

from __future__ import annotations

from penstock.model.plan import Sink


def written(sink: Sink) -> str:
    """Say how records are written where they are bytes; nothing where the topic has columns."""
    if sink.format is None:
        return ""
    keys = "" if sink.key_format is None else f", keys {sink.key_format}"
    return f" as {sink.format}{keys}"
