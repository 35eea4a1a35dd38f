"""A place in a JSON Schema: what stands there, and where its references lead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from referencing.exceptions import Unresolvable

from penstock.schema.json_schema.draft import Draft
from penstock.schema.json_schema.refusal import refused

Resolver: TypeAlias = Any
"""Follows references from one address; its library keeps the name to itself."""

_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_IDS = ("$id", "id")


@dataclass(frozen=True, slots=True)
class Place:
    """A schema inside of a document; `raw` is its JSON."""

    raw: Any
    resolver: Resolver
    draft: Draft

    @property
    def reference(self) -> str | None:
        """What it refers to, if it does."""
        if not isinstance(self.raw, dict):
            return None
        found = (self.raw.get(word) for word in _REFERENCES)
        return next((value for value in found if isinstance(value, str)), None)

    def inside(self, raw: Any) -> Place:  # noqa: ANN401  # JSON
        """Give a part of this schema, in which an `$id` moves the address references start from."""
        resolver = self.resolver
        if isinstance(raw, dict) and any(isinstance(raw.get(word), str) for word in _IDS):
            resolver = resolver.in_subresource(self.draft.resource(raw))
        return Place(raw, resolver, self.draft)

    def at(self, keyword: str) -> Place | None:
        """Give the schema under a keyword; none where there is none."""
        found = self.raw.get(keyword) if isinstance(self.raw, dict) else None
        return self.inside(found) if isinstance(found, dict | bool) else None

    def each(self, keyword: str) -> dict[str, Place]:
        """Give the schemas by name under a keyword."""
        found = self.raw.get(keyword, {})
        named = found.items() if isinstance(found, dict) else ()
        return {name: self.inside(raw) for name, raw in named if isinstance(raw, dict | bool)}

    def listed(self, keyword: str) -> list[Place]:
        """Give the schemas of a list under a keyword."""
        found = self.raw.get(keyword, [])
        listed = found if isinstance(found, list) else []
        return [self.inside(raw) for raw in listed if isinstance(raw, dict | bool)]

    def followed(self) -> Place:
        """Give the schema that this one refers to."""
        reference = self.reference or ""
        try:
            found = self.resolver.lookup(reference)
        except Unresolvable:
            raise refused(
                f'it refers to "{reference}", which is neither in it nor among its references',
                f'Add a reference named "{reference.partition("#")[0]}", or correct it.'
                if reference.partition("#")[0]
                else "Define it, or correct the reference.",
            ) from None
        except (TypeError, ValueError, AttributeError, KeyError) as error:
            # A pointer into what is no schema, such as #/required/0/x.
            raise refused(f'it refers to "{reference}", where no schema is: {error}') from None
        if not isinstance(found.contents, dict | bool):
            raise refused(f'it refers to "{reference}", where no schema is')
        return Place(found.contents, found.resolver, self.draft)
