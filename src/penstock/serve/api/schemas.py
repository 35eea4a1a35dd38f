"""Schemas over HTTP beside the registry's own API: subjects at a glance, and what changed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query

from penstock.errors import SchemaError
from penstock.schema.change import changes_between
from penstock.schema.registry.port import LEVEL_SETTING
from penstock.schema.registry.registered import Registered
from penstock.schema.schema_id import source_of
from penstock.serve.access.needs import needs
from penstock.serve.access.role import Role
from penstock.serve.paging import PageAsked, page_of
from penstock.serve.platform import Platform

Subject = Annotated[str, Path(max_length=500, description="A subject's name.")]
Version = Annotated[int | None, Query(ge=1, le=2**31 - 1)]


@dataclass(frozen=True, slots=True)
class SubjectListed:
    """A subject: its versions, the language and id of the last, and the level in force."""

    subject: str
    versions: list[int]
    type: str
    id: int
    level: str


@dataclass(frozen=True, slots=True)
class SubjectPage:
    """Subjects by name; `next` is the `after` of the page that follows, none after the last."""

    items: list[SubjectListed]
    next: str | None


@dataclass(frozen=True, slots=True)
class VersionShown:
    """A version of a subject with its text."""

    version: int
    id: int
    type: str
    schema: str
    registered_at: int


@dataclass(frozen=True, slots=True)
class ChangeShown:
    """A field that differs between two versions."""

    what: Literal["added", "removed", "changed", "renamed"]
    field: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Difference:
    """What changed from one version to another."""

    subject: str
    before: int
    after: int
    changes: list[ChangeShown]


def routes(platform: Platform) -> APIRouter:
    """Give the routes of schemas."""
    registry = platform.registry
    router = APIRouter(prefix="/schemas", tags=["schemas"], dependencies=[needs(Role.READER)])

    @router.get("")
    def list_subjects(page: PageAsked) -> SubjectPage:
        """List the subjects of the registry, whose own API is at /registry."""
        found = page_of(registry.subjects(), str, page)
        return SubjectPage([_listed(name) for name in found["items"]], found["next"])

    @router.get("/{subject}")
    def show_subject(subject: Subject) -> list[VersionShown]:
        """Show the versions of a subject, the oldest first."""
        return [_shown(version) for version in registry.versions(subject)]

    @router.get("/{subject}/diff")
    def compare_versions(
        subject: Subject, before: Version = None, after: Version = None
    ) -> Difference:
        """Say which fields differ; by default between the last two versions."""
        versions = registry.versions(subject)
        last = versions[-2:]
        old = registry.version_of(subject, before) if before is not None else last[0]
        new = registry.version_of(subject, after) if after is not None else last[-1]
        if old.schema.type != new.schema.type:
            raise SchemaError(
                "SCHEMA_LANGUAGES",
                f"version {old.version} is a schema in {old.schema.type} and version"
                f" {new.version} one in {new.schema.type}",
                hint="Compare versions of one language.",
            )
        changes = changes_between(
            old.schema.type, source_of(registry, old.schema), source_of(registry, new.schema)
        )
        return Difference(
            subject, old.version, new.version, [ChangeShown(**asdict(one)) for one in changes]
        )

    def _listed(name: str) -> SubjectListed:
        versions = registry.versions(name)
        level = registry.settings(name, in_force=True).get(LEVEL_SETTING, "NONE")
        last = versions[-1]
        numbers = [one.version for one in versions]
        return SubjectListed(name, numbers, last.schema.type, last.id, str(level))

    return router


def _shown(one: Registered) -> VersionShown:
    return VersionShown(one.version, one.id, one.schema.type, one.schema.text, one.registered_at)
