"""`penstock schemas diff`: what changed between two versions, field by field."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.options import JsonOption
from penstock.cli.output import talk, write_json
from penstock.cli.schemas_change import write_changes
from penstock.cli.schemas_file import ReferenceOption, TypeOption, is_file, schema_in
from penstock.cli.schemas_opened import (
    SubjectArgument,
    number_of,
    opened_schemas,
    source_in,
    version_in,
)
from penstock.errors import SchemaError, UsageError
from penstock.schema.change import changes_between

if TYPE_CHECKING:
    from penstock.schema.codec.schemas import SchemaType
    from penstock.schema.language import SchemaSource
    from penstock.schema.registry.port import SchemaRegistry


def diff(  # noqa: PLR0913, PLR0917  # each parameter is an option
    context: typer.Context,
    subject: SubjectArgument,
    first: Annotated[
        str,
        typer.Argument(
            metavar="VERSION|FILE",
            help="The version to begin with; a file is compared with the last version.",
        ),
    ],
    second: Annotated[
        str | None,
        typer.Argument(metavar="VERSION|FILE", help="The other one; by default the last version."),
    ] = None,
    type_: TypeOption = None,
    references: ReferenceOption = None,
    json: JsonOption = False,
) -> None:
    """Show the fields that were added, removed, renamed or changed."""
    if second is None and is_file(first):
        first, second = "latest", first
    with opened_schemas(context) as schemas:
        version_in(schemas, subject)
        before = _side(schemas, subject, first, type_, references)
        after = _side(schemas, subject, second or "latest", type_, references)
    if before[0] != after[0]:
        raise SchemaError(
            "SCHEMA_LANGUAGES",
            f"{first} is a schema in {before[0]} and {second or 'latest'} one in {after[0]}",
            hint="Compare schemas of one language, or say which with --type.",
        )
    changes = changes_between(before[0], before[1], after[1])
    if json:
        write_json([asdict(change) for change in changes])
    elif changes:
        write_changes(changes)
    else:
        talk("no field differs")


def _side(
    schemas: SchemaRegistry,
    subject: str,
    word: str,
    type_: str | None,
    references: list[str] | None,
) -> tuple[SchemaType, SchemaSource]:
    if word == "latest" or word.isdigit():
        found = version_in(schemas, subject, number_of(word))
        return found.schema.type, source_in(schemas, found)
    if not is_file(word):
        raise UsageError(
            "VERSION_FORMAT",
            f'"{word}" is neither a version nor a file',
            hint="Write a number such as 2, latest, or the path of a file.",
        )
    from penstock.schema.schema_id import source_of  # noqa: PLC0415  # Arrow

    schema = schema_in(word, type_, references)
    return schema.type, source_of(schemas, schema)
