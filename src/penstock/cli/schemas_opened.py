"""The registry that a command works on, and what it holds by the names a user gave."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.opened_log import log_exists, opened_log
from penstock.cli.options import settings_of
from penstock.cli.registry_place import registry_place
from penstock.errors import RegistryError, UsageError, did_you_mean

if TYPE_CHECKING:
    from penstock.schema.language import SchemaSource
    from penstock.schema.registry.port import SchemaRegistry
    from penstock.schema.registry.registered import Registered

SubjectArgument = Annotated[str, typer.Argument(metavar="SUBJECT", help="A subject's name.")]
_MISSING = ("SUBJECT_MISSING", "SUBJECT_DELETED")


@contextmanager
def opened_schemas(context: typer.Context, *, create: bool = False) -> Iterator[SchemaRegistry]:
    """Open the registry in force: the one in the log, or the one at `registry.url`."""
    from penstock.schema.registry.registry import Registry  # noqa: PLC0415  # Arrow: 0.1 s

    place = registry_place(context)
    if place.url:
        from penstock.schema.registry.remote import RemoteRegistry  # noqa: PLC0415  # HTTP

        remote = RemoteRegistry(place.url, token=place.token, ca_file=place.ca_file)
        try:
            yield remote
        finally:
            remote.close()
        return
    with opened_log(context, create=create) as log:
        yield Registry(log)


def registry_exists(context: typer.Context) -> bool:
    """Whether there is a registry that could hold anything."""
    return bool(settings_of(context).registry_url) or log_exists(context)


def version_in(schemas: SchemaRegistry, subject: str, version: int | None = None) -> Registered:
    """Give a version; a subject that is not there is answered with the name nearest to it."""
    try:
        return schemas.version_of(subject, version)
    except RegistryError as error:
        if error.code not in _MISSING:
            raise
        raise _missing(schemas, subject, error) from None


def versions_in(schemas: SchemaRegistry, subject: str) -> list[Registered]:
    """Give all versions of a subject, the oldest first."""
    try:
        return schemas.versions(subject)
    except RegistryError as error:
        if error.code not in _MISSING:
            raise
        raise _missing(schemas, subject, error) from None


def source_in(schemas: SchemaRegistry, registered: Registered) -> SchemaSource:
    """Give the text of a version with the texts it refers to."""
    from penstock.schema.schema_id import source_of  # noqa: PLC0415  # Arrow

    return source_of(schemas, registered.schema)


def level_in(schemas: SchemaRegistry, subject: str | None) -> str:
    """Give the compatibility level in force for a subject, or for all that have none."""
    from penstock.schema.registry.port import LEVEL_SETTING  # noqa: PLC0415

    found = schemas.settings(subject, in_force=True)
    return str(found.get(LEVEL_SETTING, "NONE"))


def number_of(text: str) -> int | None:
    """Read the number of a version; `latest` is none in particular."""
    if text == "latest":
        return None
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise UsageError(
            "VERSION_FORMAT",
            f'"{text}" is no version',
            hint="Write a number such as 2, or latest.",
        )
    return int(text)


def _missing(schemas: SchemaRegistry, subject: str, error: RegistryError) -> RegistryError:
    known = schemas.subjects()
    told = f"The subjects: {', '.join(known[:10])}." if known else error.hint
    return RegistryError("SUBJECT_MISSING", error.fact, hint=did_you_mean(subject, known) or told)
