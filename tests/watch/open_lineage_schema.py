"""What OpenLineage asks of a run event and of the facets that we send, stricter than it is itself.

After https://openlineage.io/spec/2-0-2/OpenLineage.json and the facets that events name; nothing
may be there that these do not have.
"""

from __future__ import annotations

from typing import Any

URI = {"type": "string", "format": "uri", "pattern": "^https://"}
TEXT = {"type": "string", "minLength": 1}


def _object(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }


def _facet(name: str, required: dict[str, Any], optional: dict[str, Any] | None = None) -> Any:  # noqa: ANN401
    pattern = rf"^https://openlineage\.io/spec/facets/\d+-\d+-\d+/{name}\.json#/\$defs/{name}$"
    named = {"_producer": URI, "_schemaURL": {**URI, "pattern": pattern}}
    return _object({**named, **required}, optional)


_TRANSFORMATION = _object(
    {"type": {"enum": ["DIRECT", "INDIRECT"]}},
    {"subtype": TEXT, "description": {"type": "string"}, "masking": {"type": "boolean"}},
)
_INPUT_FIELD = _object(
    {"namespace": TEXT, "name": TEXT, "field": TEXT},
    {"transformations": {"type": "array", "items": _TRANSFORMATION}},
)
_SCHEMA = _facet(
    "SchemaDatasetFacet",
    {"fields": {"type": "array", "items": _object({"name": TEXT}, {"type": TEXT})}},
)
_FIELDS = {
    "type": "object",
    "additionalProperties": _object({"inputFields": {"type": "array", "items": _INPUT_FIELD}}),
}
_COLUMNS = _facet(
    "ColumnLineageDatasetFacet",
    {"fields": _FIELDS},
    {"dataset": {"type": "array", "items": _INPUT_FIELD}},
)
_DATASET = {"namespace": TEXT, "name": TEXT}
_ERROR = _facet(
    "ErrorMessageRunFacet", {"message": TEXT, "programmingLanguage": TEXT}, {"stackTrace": TEXT}
)
_JOB_TYPE = _facet(
    "JobTypeJobFacet",
    {"processingType": {"enum": ["BATCH", "STREAMING"]}, "integration": TEXT},
    {"jobType": TEXT},
)
RUN_EVENT = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    **_object(
        {
            "eventTime": {"type": "string", "format": "date-time"},
            "producer": URI,
            "schemaURL": {
                "const": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
            },
            "eventType": {"enum": ["START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER"]},
            "run": _object(
                {"runId": {"type": "string", "format": "uuid"}},
                {"facets": _object({}, {"errorMessage": _ERROR})},
            ),
            "job": _object(
                {"namespace": TEXT, "name": TEXT}, {"facets": _object({}, {"jobType": _JOB_TYPE})}
            ),
        },
        {
            "inputs": {
                "type": "array",
                "items": _object({**_DATASET, "facets": _object({"schema": _SCHEMA})}),
            },
            "outputs": {
                "type": "array",
                "items": _object(
                    {**_DATASET, "facets": _object({"schema": _SCHEMA, "columnLineage": _COLUMNS})}
                ),
            },
        },
    ),
}
