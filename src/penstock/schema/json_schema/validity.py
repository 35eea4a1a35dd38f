"""Whether values are valid under a JSON Schema, one value at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import orjson

from penstock.schema.json_schema.document import json_schema_document
from penstock.schema.language import SchemaSource

_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Validity:
    """Judges values; the validator of each schema is made once."""

    made: dict[SchemaSource, Any] = field(default_factory=dict)

    def objection(self, source: SchemaSource, value: bytes) -> str:
        """Say why a value is not valid under a schema; nothing where it is."""
        try:
            found = orjson.loads(value)
            error = next(self._validator(source).iter_errors(found), None)
        except ValueError as error:
            return f"not JSON: {error}"[:_LONGEST]
        except RecursionError:
            return "nested too deeply"
        if error is None:
            return ""
        place = "/".join(["#", *map(str, error.absolute_path)])
        return f"{place}: {error.message}"[:_LONGEST]

    def _validator(self, source: SchemaSource) -> Any:  # noqa: ANN401  # its library has no types
        if source not in self.made:
            document = json_schema_document(source)
            self.made[source] = document.draft.validator(document.root, registry=document.registry)
        return self.made[source]
