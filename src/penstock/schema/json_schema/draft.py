"""The drafts of JSON Schema: which one a schema follows, and what that changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jsonschema import (
    Draft4Validator,
    Draft6Validator,
    Draft7Validator,
    Draft201909Validator,
    Draft202012Validator,
)
from jsonschema.protocols import Validator
from referencing.jsonschema import (
    DRAFT4,
    DRAFT6,
    DRAFT7,
    DRAFT201909,
    DRAFT202012,
    SchemaResource,
)

from penstock.errors import did_you_mean
from penstock.schema.json_schema.refusal import refused


@dataclass(frozen=True, slots=True)
class Draft:
    """One version of the language, in order of age."""

    age: int
    validator: type[Validator]
    specification: Any

    @property
    def reference_alone(self) -> bool:
        """Whether what stands beside a `$ref` is not looked at."""
        return self.age <= _SEVEN

    @property
    def exclusive_flags(self) -> bool:
        """Whether `exclusiveMinimum` is a flag of `minimum`, and no limit of its own."""
        return self.age == _FOUR

    def resource(self, contents: Any) -> SchemaResource:  # noqa: ANN401  # JSON
        """Give a schema as what references point into."""
        found: SchemaResource = self.specification.create_resource(contents)
        return found


_FOUR, _SIX, _SEVEN, _NINETEEN, _TWENTY = range(5)
DRAFTS: Mapping[str, Draft] = {
    "http://json-schema.org/draft-04/schema": Draft(_FOUR, Draft4Validator, DRAFT4),
    "http://json-schema.org/draft-06/schema": Draft(_SIX, Draft6Validator, DRAFT6),
    "http://json-schema.org/draft-07/schema": Draft(_SEVEN, Draft7Validator, DRAFT7),
    "https://json-schema.org/draft/2019-09/schema": Draft(
        _NINETEEN, Draft201909Validator, DRAFT201909
    ),
    "https://json-schema.org/draft/2020-12/schema": Draft(
        _TWENTY, Draft202012Validator, DRAFT202012
    ),
}
_DEFAULT = DRAFTS["http://json-schema.org/draft-07/schema"]


def draft_of(schema: object) -> Draft:
    """Give the draft that a schema names; draft 7 where it names none, as the registry has it."""
    named = schema.get("$schema") if isinstance(schema, dict) else None
    if named is None:
        return _DEFAULT
    known = str(named).rstrip("#")
    # Either scheme stands for the same draft, whatever a schema was copied from.
    other = known.replace("https://", "http://") if "draft-0" in known else known
    if other not in DRAFTS:
        raise refused(
            f'it follows "{named}", which is none of the drafts',
            did_you_mean(known, DRAFTS) or f"Name one of: {', '.join(DRAFTS)}.",
        )
    return DRAFTS[other]
