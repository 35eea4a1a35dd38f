"""Associations: which subject the keys or values of a topic go by, where its name does not tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

from penstock.errors import RegistryError
from penstock.schema.registry.registered import Registration

Lifecycle: TypeAlias = Literal["WEAK", "STRONG"]
ANY_NAMESPACE = "-"


@dataclass(frozen=True, slots=True)
class Resource:
    """What a subject is associated with: a topic of a cluster, or something else."""

    name: str
    namespace: str = ANY_NAMESPACE
    id: str = ""
    type: str = "topic"


@dataclass(frozen=True, slots=True)
class Association:
    """A subject for a part of a resource: its `value`, or its `key`.

    One that is STRONG is the only one of its subject, and deleted together with it.
    """

    resource: Resource
    subject: str
    part: str = "value"
    lifecycle: Lifecycle = "WEAK"
    frozen: bool = False

    @property
    def place(self) -> tuple[str, str, str, str]:
        """What can be associated only once."""
        return self.resource.namespace, self.resource.name, self.resource.type, self.part


@dataclass(frozen=True, slots=True)
class Wish:
    """An association that somebody wants, and perhaps a schema to register for it."""

    association: Association
    schema: Registration | None = None
    normalize: bool = False


@dataclass(frozen=True, slots=True)
class Asking:
    """Which associations somebody asks for; what is empty is not asked about."""

    name: str = ""
    namespace: str = ANY_NAMESPACE
    id: str = ""
    type: str = ""
    parts: tuple[str, ...] = ()
    subject: str = ""

    def matches(self, one: Association) -> bool:
        """Whether an association is among those."""
        told = (
            (self.name, one.resource.name),
            (self.namespace.removeprefix(ANY_NAMESPACE), one.resource.namespace),
            (self.id, one.resource.id),
            (self.type, one.resource.type),
            (self.subject, one.subject),
        )
        fits = all(not asked or asked == has for asked, has in told)
        return fits and (not self.parts or one.part in self.parts)


def wishes_of(found: Mapping[str, Any], schema_of: Any) -> list[Wish]:  # noqa: ANN401  # a reader
    """Read associations as a client wants them; `schema_of` reads a schema."""
    resource = Resource(
        _word(found, "resourceName"),
        _word(found, "resourceNamespace", ANY_NAMESPACE),
        _word(found, "resourceId", found.get("resourceName") or ""),
        _word(found, "resourceType", "topic"),
    )
    listed = found.get("associations")
    if not isinstance(listed, list) or not listed:
        raise malformed('"associations" is no list, or empty')
    wishes = []
    for one in listed:
        if not isinstance(one, Mapping):
            raise malformed("an association is no object")
        association = Association(
            resource,
            _word(one, "subject"),
            _word(one, "associationType", "value"),
            _lifecycle(one),
            bool(one.get("frozen")),
        )
        schema = one.get("schema")
        wishes.append(
            Wish(
                association,
                None if schema is None else schema_of(schema),
                bool(one.get("normalize")),
            )
        )
    return wishes


def malformed(why: str) -> RegistryError:
    """An association that says too little, or something else."""
    return RegistryError(
        "ASSOCIATION_FORM", f"{why}", hint="Give the resource's name, and a subject for each part."
    )


def _word(found: Mapping[str, Any], name: str, default: str = "") -> str:
    value = found.get(name) or default
    if not isinstance(value, str) or not value:
        raise malformed(f'"{name}" is no text, or missing')
    return value


def _lifecycle(found: Mapping[str, Any]) -> Lifecycle:
    word = _word(found, "lifecycle", "WEAK").upper()
    if word not in {"WEAK", "STRONG"}:
        raise malformed(f'"lifecycle" is neither WEAK nor STRONG but "{word}"')
    return cast(Lifecycle, word)
