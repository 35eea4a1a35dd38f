"""The texts a schema needs: its own, and those of all it refers to, near and far."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.schema.codec.schemas import Reference, SchemaText
from penstock.schema.language import SchemaSource
from penstock.schema.registry.contents import Contents
from penstock.schema.registry.context import context_of, within
from penstock.schema.registry.refusals import no_schema_text
from penstock.schema.registry.registered import Registered

LATEST = -1


def source_of(contents: Contents, subject: str, schema: SchemaText) -> SchemaSource:
    """Gather the texts a schema under a subject refers to, each after those it needs itself."""
    found: dict[str, str] = {}
    _gather(contents, subject, schema, found, frozenset())
    return SchemaSource(schema.text, tuple(found.items()))


def referred(contents: Contents, subject: str, reference: Reference) -> Registered:
    """Give the version that a schema under a subject refers to, even a deleted one."""
    target = within(reference.subject, context_of(subject))
    version = None if reference.version == LATEST else reference.version
    found = contents.version(target, version, "all")
    if found is None:
        told = "its last version" if version is None else f"version {version}"
        raise no_schema_text(
            f'reference "{reference.name}" names {told} of subject "{target}", which is not there'
        )
    return found


def referring(contents: Contents, target: Registered, *, deleted: bool = False) -> list[int]:
    """Give the ids of schemas that refer to a version, in order."""
    return sorted(
        {
            one.id
            for one in contents.everything("all" if deleted else "live")
            if any(_same(one, reference, target) for reference in one.schema.references)
        }
    )


def _same(one: Registered, reference: Reference, target: Registered) -> bool:
    subject = within(reference.subject, context_of(one.subject))
    return (subject, reference.version) == (target.subject, target.version)


def _gather(
    contents: Contents,
    subject: str,
    schema: SchemaText,
    found: dict[str, str],
    above: frozenset[tuple[str, int]],
) -> None:
    for name, target in _targets(contents, subject, schema):
        place = (target.subject, target.version)
        if name in found:
            continue
        if place in above:
            raise no_schema_text(f'reference "{name}" leads back to itself')
        _gather(contents, target.subject, target.schema, found, above | {place})
        found[name] = target.schema.text


def _targets(
    contents: Contents, subject: str, schema: SchemaText
) -> Iterator[tuple[str, Registered]]:
    for reference in schema.references:
        yield reference.name, referred(contents, subject, reference)
