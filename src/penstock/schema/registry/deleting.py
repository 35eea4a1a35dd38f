"""What is decided when versions, subjects, settings or modes are to go or to change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast, get_args

from penstock.errors import RegistryError, did_you_mean
from penstock.schema.registry.contents import Contents
from penstock.schema.registry.context import context_of, scope_of, split_subject
from penstock.schema.registry.entry import (
    Entry,
    last_id_entry,
    mode_entry,
    no_schema_entry,
    schema_entry,
    settings_entry,
    subject_deleted_entry,
)
from penstock.schema.registry.level import level_named
from penstock.schema.registry.metadata import check_rules
from penstock.schema.registry.port import LEVEL_SETTING, Mode
from penstock.schema.registry.references import referring
from penstock.schema.registry.refusals import (
    missing_subject,
    missing_version,
    not_permitted,
    referenced,
)
from penstock.schema.registry.registered import Registered
from penstock.schema.registry.registering import check_writable

MODES: tuple[Mode, ...] = get_args(Mode)


def delete_version(
    contents: Contents, subject: str, version: int | None, *, permanent: bool
) -> tuple[int, Sequence[Entry]]:
    """Delete a version: for now, or what is deleted for ever."""
    found = contents.version(subject, version, "all")
    if found is None:
        if not contents.has_subject(subject, "all"):
            raise missing_subject(subject)
        raise missing_version(subject, version)
    if found.deleted and not permanent:
        raise RegistryError(
            "VERSION_DELETED",
            f'version {found.version} of subject "{subject}" is deleted already',
            hint="Delete it permanently to remove it for ever.",
        )
    check_writable(contents, subject)
    _check_unreferenced(contents, found)
    if permanent:
        if not found.deleted:
            raise RegistryError(
                "VERSION_NOT_DELETED",
                f'version {found.version} of subject "{subject}" is not deleted yet',
                hint="Delete it first, then permanently.",
            )
        return found.version, _gone_for_ever(contents, [found])
    entries = [schema_entry(replace(found, deleted=True))]
    if len(list(contents.versions(subject))) == 1:
        entries += _settings_gone(contents, subject)
    return found.version, entries


def delete_subject(
    contents: Contents, subject: str, *, permanent: bool
) -> tuple[list[int], Sequence[Entry]]:
    """Delete all versions of a subject: for now, or for ever what is deleted."""
    if not contents.has_subject(subject, "all"):
        raise missing_subject(subject)
    if not permanent and not contents.has_subject(subject):
        raise RegistryError(
            "SUBJECT_DELETED",
            f'subject "{subject}" is deleted already',
            hint="Delete it permanently to remove it for ever.",
        )
    check_writable(contents, subject)
    going = list(contents.versions(subject, "all" if permanent else "live"))
    for one in going:
        _check_unreferenced(contents, one)
    numbers = [one.version for one in going]
    if not permanent:
        entries = [subject_deleted_entry(subject, numbers[-1])]
        return numbers, [*entries, *_settings_gone(contents, subject)]
    if not all(one.deleted for one in going):
        raise RegistryError(
            "SUBJECT_NOT_DELETED",
            f'subject "{subject}" is not deleted yet',
            hint="Delete it first, then permanently.",
        )
    return numbers, _gone_for_ever(contents, going)


def set_settings(
    contents: Contents, subject: str | None, changes: Mapping[str, Any]
) -> tuple[None, Sequence[Entry]]:
    """Change settings of a subject or of all; what is not mentioned stays, null takes away."""
    check_writable(contents, subject)
    if changes.get(LEVEL_SETTING) is not None:
        changes = {**changes, LEVEL_SETTING: level_named(changes[LEVEL_SETTING])}
    for name in ("defaultRuleSet", "overrideRuleSet"):
        check_rules(changes.get(name))
    merged = {**(contents.own_settings(subject) or {}), **changes}
    kept = {name: value for name, value in merged.items() if value is not None}
    return None, [settings_entry(scope_of(subject), kept)]


def delete_settings(
    contents: Contents, subject: str | None
) -> tuple[Mapping[str, Any], Sequence[Entry]]:
    """Take away what is set for a subject or for all; give what it was."""
    own = contents.own_settings(subject)
    if own is None:
        if scope_of(subject):
            raise missing_subject(f"{subject}")
        return contents.settings(None), ()
    check_writable(contents, subject)
    return own, [settings_entry(scope_of(subject), None)]


def set_mode(
    contents: Contents, subject: str | None, mode: str | None, *, force: bool
) -> tuple[None, Sequence[Entry]]:
    """Set the mode of a subject, a context or all; None takes it away."""
    if mode is None:
        return None, [mode_entry(scope_of(subject), None)]
    chosen = _mode_named(mode)
    entries: list[Entry] = []
    if chosen == "IMPORT" and contents.mode(subject) != "IMPORT" and not force:
        entries = _made_empty(contents, subject)
    return None, [*entries, mode_entry(scope_of(subject), chosen)]


def delete_mode(contents: Contents, subject: str | None) -> tuple[Mode, Sequence[Entry]]:
    """Take away the mode of a subject, a context or all; give what it was."""
    own = contents.own_mode(subject)
    if own is None:
        if scope_of(subject):
            raise missing_subject(f"{subject}")
        return contents.mode(None), ()
    return own, [mode_entry(scope_of(subject), None)]


def _mode_named(mode: str) -> Mode:
    if mode.upper() not in MODES:
        raise RegistryError(
            "MODE_NAME",
            f'mode "{mode}" does not exist',
            hint=did_you_mean(mode.upper(), MODES) or f"Modes: {', '.join(MODES)}.",
        )
    return cast(Mode, mode.upper())


def _made_empty(contents: Contents, subject: str | None) -> list[Entry]:
    """Remove what is deleted where schemas are to be imported; what lives stands against it."""
    scope = scope_of(subject)
    context, rest = split_subject(scope)
    subjects = [
        name
        for name in contents.subjects("all")
        if name == scope or (not rest and (not scope or context_of(name) == context))
    ]
    if any(contents.has_subject(name) for name in subjects):
        raise not_permitted(
            "schemas can be imported only where none are registered",
            "Delete the subjects first, or force the mode.",
        )
    going = [one for name in subjects for one in contents.versions(name, "all")]
    for one in going:
        _check_unreferenced(contents, one)
    return _gone_for_ever(contents, going)


def _check_unreferenced(contents: Contents, one: Registered) -> None:
    if referring(contents, one):
        raise referenced(one.subject, one.version)


def _gone_for_ever(contents: Contents, going: Sequence[Registered]) -> list[Entry]:
    contexts = sorted({context_of(one.subject) for one in going})
    return [
        *(last_id_entry(context, contents.last_id(context)) for context in contexts),
        *(no_schema_entry(one.subject, one.version) for one in going),
    ]


def _settings_gone(contents: Contents, subject: str) -> list[Entry]:
    entries = []
    if contents.own_settings(subject) is not None:
        entries.append(settings_entry(subject, None))
    if contents.own_mode(subject) is not None:
        entries.append(mode_entry(subject, None))
    return entries
