"""Views of jobs as JSON has them, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from penstock.jobs.definition import Definition, Event
from penstock.jobs.document import from_document
from penstock.jobs.job import Job
from penstock.jobs.settings_document import read_settings
from penstock.jobs.view import JobView, definition_document
from penstock.model.progress import Progress


def whole_document(view: JobView) -> dict[str, Any]:
    """Give all that a view says."""
    return {
        "name": view.name,
        "state": view.state,
        "lag": view.lag,
        "watermark": None if view.progress is None else view.progress.watermark,
        "definition": None if view.definition is None else definition_document(view.definition),
        "run": None if view.run is None else asdict(view.run),
        "progress": None if view.progress is None else asdict(view.progress),
        "runs": [asdict(run) for run in view.runs],
        "versions": list(view.versions),
        "history": [asdict(item) for item in view.history],
    }


def read_view(document: Mapping[str, Any]) -> JobView:
    """Read what `whole_document` gave."""
    definition, run = document["definition"], document["run"]
    progress = document["progress"]
    return JobView(
        document["name"],
        None if definition is None else read_definition(definition),
        None if run is None else from_document(Job, run),
        None if progress is None else from_document(Progress, progress),
        tuple(from_document(Job, item) for item in document["runs"]),
        tuple(document["versions"]),
        tuple(from_document(Event, item) for item in document["history"]),
    )


def read_definition(document: Mapping[str, Any]) -> Definition:
    """Read what `definition_document` gave; fields that are not known are left out."""
    known = {field.name for field in fields(Definition)}
    values = {name: item for name, item in document.items() if name in known}
    return Definition(**{**values, "settings": read_settings(document.get("settings", {}))})
