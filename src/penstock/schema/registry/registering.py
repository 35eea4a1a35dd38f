"""What is decided when a schema is to be registered, looked up or compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from penstock.errors import RegistryError, SchemaError
from penstock.schema.codec.schemas import Reference, SchemaText
from penstock.schema.language import SchemaSource
from penstock.schema.registry.contents import Contents
from penstock.schema.registry.context import context_of
from penstock.schema.registry.entry import Entry, no_schema_entry, schema_entry
from penstock.schema.registry.languages import language_named
from penstock.schema.registry.level import Earlier, level_named, objections
from penstock.schema.registry.metadata import check_rules, merged_metadata, merged_rules
from penstock.schema.registry.port import LEVEL_SETTING
from penstock.schema.registry.references import LATEST, referred, source_of
from penstock.schema.registry.refusals import (
    missing_schema,
    missing_subject,
    no_schema_text,
    not_permitted,
)
from penstock.schema.registry.registered import Registered, Registration, guid_of, said

_IMPORTING: Final = ("IMPORT", "FORWARD")
_READ_ONLY: Final = ("READONLY", "READONLY_OVERRIDE")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A schema as it would be kept, with the texts it needs."""

    schema: SchemaText
    source: SchemaSource


def candidate(
    contents: Contents, subject: str, schema: SchemaText, *, normalize: bool
) -> Candidate:
    """Write a schema as it would be kept; what is no schema is refused."""
    if not schema.text.strip():
        raise no_schema_text("the schema is empty")
    language = language_named(schema.type)
    settled = replace(schema, references=_settled(contents, subject, schema, sort=normalize))
    source = source_of(contents, subject, settled)
    try:
        text = language.normalized(source) if normalize else language.canonical(source)
    except RegistryError:
        raise
    except SchemaError as error:
        raise no_schema_text(f"the schema is no {schema.type}: {error.fact}") from error
    return Candidate(replace(settled, text=text), replace(source, text=text))


def find(
    contents: Contents, subject: str, wanted: Registration, *, normalize: bool, deleted: bool
) -> Registered | None:
    """Find the version of a subject that has this content."""
    if not wanted.text.strip():
        return None
    new = candidate(contents, subject, wanted.schema, normalize=normalize)
    guid = guid_of(new.schema, wanted.metadata, wanted.rules)
    known = list(contents.versions(subject, "all" if deleted else "live"))
    # A version that lives comes before one that is deleted.
    by_guid = sorted((one for one in known if one.guid == guid), key=_liveliness)
    if by_guid:
        return by_guid[-1]
    same_text = sorted((one for one in known if one.schema == new.schema), key=_liveliness)
    if same_text and wanted.metadata is None and wanted.rules is None:
        return same_text[-1]
    return _resolved_alike(contents, new, known)


def look_up(
    contents: Contents, subject: str, wanted: Registration, *, normalize: bool, deleted: bool
) -> Registered:
    """Find the version of a subject that has this content, or refuse."""
    if not contents.has_subject(subject, "all" if deleted else "live"):
        raise missing_subject(subject)
    normalize = normalize or bool(contents.settings(subject).get("normalize"))
    found = find(contents, subject, wanted, normalize=normalize, deleted=deleted)
    if found is None:
        raise missing_schema(f'this schema under subject "{subject}"')
    return found


def register(
    contents: Contents, subject: str, wanted: Registration, *, normalize: bool, now: int
) -> tuple[Registered, Sequence[Entry]]:
    """Decide on a registration: what is there already is found, what is new must fit."""
    check_rules(wanted.rules)
    settings = contents.settings(subject)
    normalize = normalize or bool(settings.get("normalize"))
    if not wanted.exact and not _has_defaults(settings):
        known = find(contents, subject, wanted, normalize=normalize, deleted=False)
        if known is not None and wanted.id in (None, known.id):
            return known, ()
    _check_mode(contents, subject, wanted)
    importing = contents.mode(subject) in _IMPORTING
    if not importing:
        wanted = _completed(contents, subject, wanted, settings)
    new = candidate(contents, subject, wanted.schema, normalize=normalize)
    guid = guid_of(new.schema, wanted.metadata, wanted.rules)
    known = _there_already(contents, subject, wanted, new.schema, guid)
    if known is not None:
        return known, ()
    if not importing:
        _check_references_live(contents, subject, new.schema)
        against = incompatible(contents, subject, new, list(contents.versions(subject)), wanted)
        if against:
            raise _incompatible(subject, against)
    registered = Registered(
        subject,
        _version_for(contents, subject, wanted, importing=importing),
        _id_for(contents, subject, wanted, guid),
        new.schema,
        guid,
        said(wanted.metadata),
        said(wanted.rules),
        registered_at=now,
    )
    return registered, (*_forgotten(contents, registered), schema_entry(registered))


def incompatible(
    contents: Contents,
    subject: str,
    new: Candidate,
    earlier: Sequence[Registered],
    wanted: Registration,
) -> tuple[str, ...]:
    """Say what speaks against a schema after earlier versions, at the subject's level."""
    settings = contents.settings(subject)
    group = settings.get("compatibilityGroup")
    if group:
        own = _property(wanted.metadata, group)
        earlier = [one for one in earlier if _property(one.metadata, group) == own]
    return objections(
        level_named(settings[LEVEL_SETTING]),
        language_named(new.schema.type),
        new.source,
        [
            Earlier(one.version, one.schema.type, source_of(contents, one.subject, one.schema))
            for one in earlier
        ],
    )


def check_writable(contents: Contents, subject: str | None) -> None:
    """Refuse to change what the mode makes read-only."""
    mode = contents.mode(subject)
    if mode in _READ_ONLY:
        told = "the registry" if subject is None else f'subject "{subject}"'
        raise not_permitted(f"{told} is in mode {mode}", "Set its mode to READWRITE first.")


def _check_mode(contents: Contents, subject: str, wanted: Registration) -> None:
    check_writable(contents, subject)
    mode = contents.mode(subject)
    if wanted.id is not None and mode not in _IMPORTING:
        raise not_permitted(
            f'subject "{subject}" is in mode {mode}, in which the registry gives the ids',
            "Leave the id out, or set the mode of the subject to IMPORT.",
        )
    if wanted.id is None and mode != "READWRITE":
        raise not_permitted(
            f'subject "{subject}" is in mode {mode}, in which schemas bring their ids',
            "Give an id, or set the mode of the subject to READWRITE.",
        )


def _completed(
    contents: Contents,
    subject: str,
    wanted: Registration,
    settings: Any,  # noqa: ANN401
) -> Registration:
    """Fill in what a registration leaves to the version before it, and to the settings."""
    last = contents.version(subject, None, "live")
    if not wanted.text.strip():
        if last is None:
            raise no_schema_text("the schema is empty")
        before = last.schema
        wanted = replace(wanted, text=before.text, type=before.type, references=before.references)
    metadata, rules = wanted.metadata, wanted.rules
    if last is not None:
        metadata = last.metadata if metadata is None else metadata
        rules = last.rules if rules is None else rules
    return replace(
        wanted,
        metadata=merged_metadata(
            settings, metadata, contents.next_version(subject), exact=wanted.exact
        ),
        rules=merged_rules(settings, rules),
    )


def _there_already(
    contents: Contents, subject: str, wanted: Registration, schema: SchemaText, guid: str
) -> Registered | None:
    """Find the version that a registration would make again."""
    if wanted.exact:
        found = contents.version(subject, wanted.version, "live")
        alike = [found] if found is not None and found.schema == schema else []
    else:
        alike = [one for one in contents.versions(subject) if one.guid == guid]
    return next((one for one in reversed(alike) if wanted.id in (None, one.id)), None)


def _settled(
    contents: Contents, subject: str, schema: SchemaText, *, sort: bool
) -> tuple[Reference, ...]:
    """Replace "the last version" in references by the version that is the last one now."""
    settled = [
        replace(one, version=referred(contents, subject, one).version)
        if one.version == LATEST
        else one
        for one in schema.references
    ]
    return tuple(sorted(settled, key=lambda one: one.name) if sort else settled)


def _check_references_live(contents: Contents, subject: str, schema: SchemaText) -> None:
    for reference in schema.references:
        if referred(contents, subject, reference).deleted:
            raise no_schema_text(f'reference "{reference.name}" names a deleted version')


def _resolved_alike(
    contents: Contents, new: Candidate, known: Sequence[Registered]
) -> Registered | None:
    """Find the version that is this schema, where its references are written out in this one."""
    if new.schema.references:
        return None
    language = language_named(new.schema.type)
    for one in reversed(known):
        if one.schema.references and one.schema.type == new.schema.type:
            whole = language.formatted(source_of(contents, one.subject, one.schema), "resolved")
            if whole == language.formatted(new.source, "resolved"):
                return one
    return None


def _version_for(contents: Contents, subject: str, wanted: Registration, *, importing: bool) -> int:
    following = contents.next_version(subject)
    if wanted.version is None or not wanted.exact:
        return following
    if wanted.version != following and not importing:
        raise no_schema_text(
            f'version {wanted.version} of subject "{subject}" is not the next one, {following}'
        )
    return wanted.version


def _id_for(contents: Contents, subject: str, wanted: Registration, guid: str) -> int:
    context = context_of(subject)
    if wanted.id is None:
        known = contents.id_of_content(context, guid)
        return contents.next_id(context) if known is None else known
    taken = contents.with_id(context, wanted.id)
    if any(one.guid != guid for one in taken):
        raise not_permitted(
            f"id {wanted.id} belongs to another schema", "Import the schema under its own id."
        )
    there = contents.version(subject, wanted.version or 0, "live")
    if there is not None and there.id != wanted.id:
        raise RegistryError(
            "SCHEMA_ID_TAKEN",
            f'version {there.version} of subject "{subject}" has id {there.id}, not {wanted.id}',
            hint="Delete the version first, or import it under the id it has.",
        )
    return wanted.id


def _forgotten(contents: Contents, new: Registered) -> list[Entry]:
    """Take back deleted versions of what is registered again, so that it is found once."""
    return [
        no_schema_entry(one.subject, one.version)
        for one in contents.versions(new.subject, "deleted")
        if one.id == new.id and one.version < new.version
    ]


def _incompatible(subject: str, against: Sequence[str]) -> RegistryError:
    return RegistryError(
        "SCHEMA_INCOMPATIBLE",
        f'the schema is incompatible with an earlier schema for subject "{subject}", details: '
        f"[{', '.join(against)}]",
        hint="Change the schema so that it fits, or the compatibility level of the subject.",
    )


def _liveliness(one: Registered) -> tuple[bool, int]:
    return not one.deleted, one.version


def _property(metadata: Any, name: str) -> Any:  # noqa: ANN401  # what JSON holds
    return ((metadata or {}).get("properties") or {}).get(name)


def _has_defaults(settings: Any) -> bool:  # noqa: ANN401  # what JSON holds
    return any(name.startswith(("default", "override")) and settings[name] for name in settings)
