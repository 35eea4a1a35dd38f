"""Why a registry refuses, each with the number that Confluent's REST API has for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from penstock.errors import RegistryError


class RestCode(NamedTuple):
    """How a refusal is told over HTTP."""

    status: int
    number: int


REST_CODES: Mapping[str, RestCode] = {
    "SUBJECT_MISSING": RestCode(404, 40401),
    "VERSION_MISSING": RestCode(404, 40402),
    "SCHEMA_MISSING": RestCode(404, 40403),
    "SUBJECT_DELETED": RestCode(404, 40404),
    "SUBJECT_NOT_DELETED": RestCode(404, 40405),
    "VERSION_DELETED": RestCode(404, 40406),
    "VERSION_NOT_DELETED": RestCode(404, 40407),
    "LEVEL_NOT_SET": RestCode(404, 40408),
    "MODE_NOT_SET": RestCode(404, 40409),
    "SCHEMA_INCOMPATIBLE": RestCode(409, 40901),
    "ASSOCIATION_TAKEN": RestCode(409, 40903),
    "ASSOCIATION_ALONE": RestCode(409, 40905),
    "ASSOCIATION_SUBJECT": RestCode(409, 40907),
    "ASSOCIATION_FROZEN": RestCode(409, 40908),
    "SCHEMA_TEXT": RestCode(422, 42201),
    "VERSION_NUMBER": RestCode(422, 42202),
    "LEVEL_NAME": RestCode(422, 42203),
    "MODE_NAME": RestCode(422, 42204),
    "NOT_PERMITTED": RestCode(422, 42205),
    "SCHEMA_REFERENCED": RestCode(422, 42206),
    "SCHEMA_ID_TAKEN": RestCode(422, 42207),
    "SUBJECT_NAME": RestCode(422, 42208),
    "RECORD_TOO_LARGE": RestCode(422, 42209),
    "RULES_FORM": RestCode(422, 42210),
    "ASSOCIATION_FORM": RestCode(422, 42212),
    "REGISTRY_FAILED": RestCode(500, 50001),
    "REGISTRY_BUSY": RestCode(500, 50002),
    "REGISTRY_UNREACHABLE": RestCode(500, 50003),
    "LOG_UNREACHABLE": RestCode(500, 50004),
}
"""By the code of our errors; whatever else the log refuses is a failure of the store, 50001."""


def missing_subject(subject: str) -> RegistryError:
    """There is no such subject."""
    return RegistryError(
        "SUBJECT_MISSING",
        f'subject "{subject}" does not exist',
        hint="See the subjects with: penstock schemas list.",
    )


def missing_version(subject: str, version: int | None) -> RegistryError:
    """The subject is there, but not this version."""
    told = "a last version" if version is None else f"version {version}"
    return RegistryError(
        "VERSION_MISSING",
        f'subject "{subject}" does not have {told}',
        hint=f"See its versions with: penstock schemas show {subject}.",
    )


def missing_schema(what: str) -> RegistryError:
    """No schema has this id, guid or content."""
    return RegistryError(
        "SCHEMA_MISSING",
        f"{what} is not registered",
        hint="Register the schema, or see whether it is in another registry.",
    )


def not_permitted(fact: str, hint: str) -> RegistryError:
    """The mode of the registry, or something registered, stands against it."""
    return RegistryError("NOT_PERMITTED", f"{fact}", hint=hint)


def referenced(subject: str, version: int) -> RegistryError:
    """Others name this version."""
    return RegistryError(
        "SCHEMA_REFERENCED",
        f'version {version} of subject "{subject}" is referred to by other schemas',
        hint="Delete those first.",
    )


def no_schema_text(why: str) -> RegistryError:
    """What was given is not a schema."""
    return RegistryError(
        "SCHEMA_TEXT", f"{why}", hint="Correct the text, its type or its references."
    )
