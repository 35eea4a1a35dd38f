"""A JSON Schema with all it refers to, read and checked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NoReturn
from urllib.parse import urljoin

from jsonschema.exceptions import SchemaError as InvalidSchema
from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import SchemaRegistry

from penstock.errors import SchemaError
from penstock.schema.json_schema.draft import Draft, draft_of
from penstock.schema.json_schema.nodes import node_of
from penstock.schema.json_schema.place import Place
from penstock.schema.json_schema.refusal import refused
from penstock.schema.language import SchemaSource

_PLAIN = ("const", "enum", "default", "examples")
"""Keywords whose values are data, in which nothing is a schema."""


@dataclass(frozen=True, slots=True)
class JsonSchemaDocument:
    """A schema whose references all lead somewhere."""

    root: Any
    draft: Draft
    registry: SchemaRegistry

    @property
    def place(self) -> Place:
        """The root as a place, from which its parts are found."""
        resource = self.draft.resource(self.root)
        return Place(self.root, self.registry.resolver_with_root(resource), self.draft)


@lru_cache(maxsize=256)
def json_schema_document(source: SchemaSource) -> JsonSchemaDocument:
    """Read and check a schema; a reference that leads nowhere is refused."""
    try:
        root = _parsed(source.text)
        document = JsonSchemaDocument(root, draft_of(root), _registry(source, root))
        _checked(document)
    except RecursionError:
        raise refused("it is nested too deeply") from None
    return document


def _parsed(text: str) -> Any:  # noqa: ANN401  # JSON
    try:
        found = json.loads(text, parse_constant=_no_constant)
    except ValueError as error:
        raise refused(f"it is no JSON: {error}") from None
    if not isinstance(found, dict | bool):
        raise refused("it is neither an object nor true or false")
    return found


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number of JSON")


def _registry(source: SchemaSource, root: Any) -> SchemaRegistry:  # noqa: ANN401
    base = root.get("$id", root.get("id", "")) if isinstance(root, dict) else ""
    registry: SchemaRegistry = Registry()
    for name, text in source.references:
        try:
            contents = _parsed(text)
            resource = draft_of(contents).resource(contents)
        except SchemaError as error:
            raise refused(f'of its reference "{name}", {error.fact}', error.hint) from None
        names = {name, resource.id() or name}
        if isinstance(base, str):
            # A short name is completed with the address of the schema that uses it.
            names.add(urljoin(base, name))
        registry = registry.with_resources((known, resource) for known in names)
    return registry


def _checked(document: JsonSchemaDocument) -> None:
    try:
        document.draft.validator.check_schema(document.root)
    except InvalidSchema as error:
        place = "/".join(["#", *map(str, error.absolute_path)])
        raise refused(f"at {place}: {error.message}") from None
    except Unresolvable as error:
        raise refused(str(error)) from None
    for found in _places(document.place):
        if found.reference is not None:
            node_of(found)


def _places(place: Place) -> Iterator[Place]:
    """Give every schema inside of a schema, itself first."""
    waiting = [place]
    while waiting:
        found = waiting.pop()
        if isinstance(found.raw, dict):
            yield found
            waiting.extend(
                found.inside(part) for name, part in found.raw.items() if name not in _PLAIN
            )
        elif isinstance(found.raw, list):
            waiting.extend(found.inside(part) for part in found.raw)
