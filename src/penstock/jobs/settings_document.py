"""The settings of a job as JSON: durations are seconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import timedelta
from typing import Any

from penstock.model.job_settings import JobSettings, Restart

_DURATIONS = frozenset({"first_pause", "longest_pause", "calm", "latency", "batch_every"})


def settings_document(settings: JobSettings) -> dict[str, Any]:
    """Give settings as JSON has them."""
    return {**_document(settings), "restart": _document(settings.restart)}


def read_settings(document: Mapping[str, Any]) -> JobSettings:
    """Read settings; what this version does not know is left out."""
    restart = Restart(**_values(Restart, document.get("restart", {})))
    return JobSettings(**{**_values(JobSettings, document), "restart": restart})


def _document(value: JobSettings | Restart) -> dict[str, Any]:
    found = {field.name: getattr(value, field.name) for field in fields(value)}
    return {
        name: item.total_seconds() if isinstance(item, timedelta) else item
        for name, item in found.items()
        if not isinstance(item, Restart)
    }


def _values(kind: type[JobSettings | Restart], document: Mapping[str, Any]) -> dict[str, Any]:
    known = {field.name for field in fields(kind)}
    return {
        name: timedelta(seconds=item) if _is_duration(name, item) else item
        for name, item in document.items()
        if name in known
    }


def _is_duration(name: str, item: object) -> bool:
    # A latency may be a word.
    return name in _DURATIONS and isinstance(item, int | float)
