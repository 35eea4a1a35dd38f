"""JSON Schema as a language of the registry."""

from __future__ import annotations

import json

from typing_extensions import override

from penstock.schema.codec.schemas import SchemaType
from penstock.schema.json_schema.compatibility import breaking_changes
from penstock.schema.json_schema.document import json_schema_document
from penstock.schema.json_schema.refusal import refused
from penstock.schema.language import Language, SchemaSource


class JsonSchemaLanguage(Language):
    """Knows drafts 4, 6, 7, 2019-09 and 2020-12; a schema that names none is of draft 7."""

    @property
    @override
    def type(self) -> SchemaType:
        return "JSON"

    @override
    def canonical(self, source: SchemaSource) -> str:
        return _text(source, ordered=False)

    @override
    def normalized(self, source: SchemaSource) -> str:
        return _text(source, ordered=True)

    @override
    def formatted(self, source: SchemaSource, form: str) -> str:
        return self.canonical(source)

    @override
    def incompatibilities(self, reader: SchemaSource, writer: SchemaSource) -> tuple[str, ...]:
        earlier, later = json_schema_document(writer), json_schema_document(reader)
        if earlier.root == later.root and writer.references == reader.references:
            return ()
        try:
            return breaking_changes(earlier, later)
        except RecursionError:
            raise refused(
                "too many of its parts hold one another to be compared with another schema",
                "Use fewer definitions that refer to each other, or the level NONE.",
            ) from None


def _text(source: SchemaSource, *, ordered: bool) -> str:
    root = json_schema_document(source).root
    return json.dumps(root, separators=(",", ":"), ensure_ascii=False, sort_keys=ordered)


JSON_SCHEMA = JsonSchemaLanguage()
