"""`penstock schemas`: see, register, check, change and remove schemas."""

from __future__ import annotations

import json as json_text
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.counted import counted
from penstock.cli.options import JsonOption
from penstock.cli.output import examples, talk, write_json, write_line, write_list
from penstock.cli.schemas_check import check, problems_of, write_problems
from penstock.cli.schemas_diff import diff
from penstock.cli.schemas_evolve import evolve
from penstock.cli.schemas_file import FileArgument, ReferenceOption, TypeOption, schema_in
from penstock.cli.schemas_generate import generate
from penstock.cli.schemas_opened import (
    SubjectArgument,
    level_in,
    number_of,
    opened_schemas,
    registry_exists,
    version_in,
    versions_in,
)
from penstock.errors import RegistryError, UsageError
from penstock.schema.registry.level import LEVELS

if TYPE_CHECKING:
    from penstock.schema.codec.schemas import SchemaText
    from penstock.schema.registry.port import SchemaRegistry
    from penstock.schema.registry.registered import Registered

_EXAMPLES = {
    "list": ("penstock schemas list", "penstock schemas list --json"),
    "show": (
        "penstock schemas show orders-value",
        "penstock schemas show orders-value --version 1",
        "penstock schemas show orders-value --json",
    ),
    "register": (
        "penstock schemas register orders-value order.avsc",
        "penstock schemas register orders-value order.proto"
        " --reference address.proto=address-value:1",
        "penstock schemas register orders-value order.json --type JSON",
    ),
    "check": (
        "penstock schemas check orders-value order.avsc",
        "penstock schemas check orders-value order.avsc --level FULL_TRANSITIVE",
    ),
    "diff": (
        "penstock schemas diff orders-value 1 2",
        "penstock schemas diff orders-value order.avsc",
    ),
    "evolve": (
        'penstock schemas evolve orders-value --add "country string" --drop referrer',
        "penstock schemas evolve orders-value --rename a=b --widen n=bigint --dry-run",
    ),
    "level": (
        "penstock schemas level orders-value",
        "penstock schemas level orders-value FULL_TRANSITIVE",
        "penstock schemas level FULL",
    ),
    "generate": (
        "penstock schemas generate orders-value -o orders.py",
        "penstock schemas generate order.avsc",
    ),
    "delete": (
        "penstock schemas delete orders-value",
        "penstock schemas delete orders-value --version 1 --yes",
        "penstock schemas delete orders-value --permanent --yes",
    ),
}


def register(application: typer.Typer) -> None:
    """Add the commands of this file."""
    group = typer.Typer(no_args_is_help=True)
    commands: dict[str, Callable[..., None]] = {
        "list": list_subjects,
        "show": show,
        "register": register_schema,
        "check": check,
        "diff": diff,
        "evolve": evolve,
        "level": level,
        "generate": generate,
        "delete": delete,
    }
    for name, command in commands.items():
        group.command(name, epilog=examples(*_EXAMPLES[name]))(command)
    application.add_typer(
        group,
        name="schemas",
        help="See, register, check, change and remove schemas.",
        epilog=examples(
            "penstock schemas register orders-value order.avsc",
            "penstock schemas list",
            "penstock schemas check orders-value order.avsc",
        ),
    )


def list_subjects(context: typer.Context, json: JsonOption = False) -> None:
    """List all subjects."""
    rows: list[dict[str, object]] = []
    if registry_exists(context):
        with opened_schemas(context) as schemas:
            rows = [_summary(schemas, subject) for subject in schemas.subjects()]
    write_list(
        rows,
        as_json=json,
        none_yet="there are no schemas yet; register one: penstock schemas register SUBJECT FILE",
    )


def show(
    context: typer.Context,
    subject: SubjectArgument,
    version: Annotated[
        str, typer.Option("--version", metavar="VERSION", help="A number, or latest.")
    ] = "latest",
    json: JsonOption = False,
) -> None:
    """Show a schema: its text on stdout, what the registry knows of it on stderr."""
    with opened_schemas(context) as schemas:
        found = version_in(schemas, subject, number_of(version))
        level = level_in(schemas, subject)
        numbers = [one.version for one in versions_in(schemas, subject)]
    if json:
        write_json(_document(found, level, numbers))
        return
    shown = ", ".join(map(str, numbers))
    talk(
        f'subject "{found.subject}", version {found.version} of {shown}; id {found.id},'
        f" {found.schema.type}, level {level}"
    )
    for reference in found.schema.references:
        talk(f'{reference.name} is version {reference.version} of "{reference.subject}"')
    write_line(_readable(found.schema))


def register_schema(  # noqa: PLR0913, PLR0917  # each parameter is an option
    context: typer.Context,
    subject: SubjectArgument,
    file: FileArgument,
    type_: TypeOption = None,
    references: ReferenceOption = None,
    normalize: Annotated[
        bool, typer.Option("--normalize", help="Bring the text into one agreed order first.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Register a schema as the next version of a subject, if earlier ones bear it."""
    schema = schema_in(file, type_, references)
    with opened_schemas(context, create=True) as schemas:
        before = _numbers(schemas, subject)
        try:
            found = schemas.register(subject, schema, normalize=normalize)
        except RegistryError as error:
            if error.code != "SCHEMA_INCOMPATIBLE":
                raise
            _explain(schemas, subject, schema)
            raise RegistryError(
                "SCHEMA_INCOMPATIBLE",
                f'subject "{subject}" does not take the schema of "{file}"',
                hint=f"See what changed with: penstock schemas diff {subject} {file}",
            ) from None
    if json:
        write_json({"subject": found.subject, "version": found.version, "id": found.id})
    elif found.version in before:
        talk(f'subject "{found.subject}" has it already: version {found.version}, id {found.id}')
    else:
        talk(f'subject "{found.subject}": version {found.version}, id {found.id}')


def level(
    context: typer.Context,
    subject: Annotated[
        str | None, typer.Argument(metavar="SUBJECT", help="A subject; all without one.")
    ] = None,
    level_: Annotated[
        str | None,
        typer.Argument(metavar="LEVEL", help="The new one, such as FULL; without it, show."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Show or set the compatibility level: which readers a new version must not break."""
    if level_ is None and subject in LEVELS:
        # Nobody calls a subject so: it is the level of all subjects that have none of their own.
        subject, level_ = None, subject
    with opened_schemas(context, create=level_ is not None) as schemas:
        if level_ is not None:
            schemas.set_level(subject, level_)
        found = level_in(schemas, subject)
    if json:
        write_json({"subject": subject, "level": found})
    else:
        write_line(found)


def delete(
    context: typer.Context,
    subject: SubjectArgument,
    version: Annotated[
        str | None,
        typer.Option("--version", metavar="VERSION", help="Only this version; all by default."),
    ] = None,
    permanent: Annotated[
        bool, typer.Option("--permanent", help="Forget it for ever, its id included.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete a subject, or one version of it. Ids stay readable unless it is permanent."""
    with opened_schemas(context) as schemas:
        numbers = _deletable(schemas, subject, version, permanent=permanent)
        what = counted(len(numbers), "version")
        if not yes:
            _confirm(f'Delete {what} of subject "{subject}"{" for ever" if permanent else ""}?')
        if version is None:
            _delete_subject(schemas, subject, permanent=permanent)
        else:
            for one in numbers:
                _delete_version(schemas, subject, one, permanent=permanent)
    talk(f'subject "{subject}": {what} deleted{" for ever" if permanent else ""}')


def _summary(schemas: SchemaRegistry, subject: str) -> dict[str, object]:
    versions = schemas.versions(subject)
    last = versions[-1]
    return {
        "subject": subject,
        "type": last.schema.type,
        "versions": len(versions),
        "latest": last.version,
        "id": last.id,
        "level": level_in(schemas, subject),
    }


def _document(found: Registered, level: str, numbers: list[int]) -> dict[str, object]:
    return {
        "subject": found.subject,
        "version": found.version,
        "versions": numbers,
        "id": found.id,
        "type": found.schema.type,
        "level": level,
        "references": [
            {"name": one.name, "subject": one.subject, "version": one.version}
            for one in found.schema.references
        ],
        "schema": found.schema.text,
    }


def _readable(schema: SchemaText) -> str:
    if schema.type == "PROTOBUF":
        return schema.text.rstrip("\n")
    return json_text.dumps(json_text.loads(schema.text), indent=2, ensure_ascii=False)


def _numbers(schemas: SchemaRegistry, subject: str) -> list[int]:
    try:
        return [one.version for one in schemas.versions(subject)]
    except RegistryError:
        return []


def _explain(schemas: SchemaRegistry, subject: str, schema: SchemaText) -> None:
    write_problems(problems_of(schemas, subject, schema, level_in(schemas, subject)), talk)


def _deletable(
    schemas: SchemaRegistry, subject: str, version: str | None, *, permanent: bool
) -> list[int]:
    if permanent:
        # What was deleted before can still be forgotten.
        found = [one.version for one in schemas.versions(subject, "all")]
    else:
        found = [one.version for one in versions_in(schemas, subject)]
    if version is None:
        return found
    number = number_of(version)
    if number is None or number not in found:
        number = version_in(schemas, subject, number).version
    return [number]


def _delete_subject(schemas: SchemaRegistry, subject: str, *, permanent: bool) -> None:
    if not permanent:
        schemas.delete_subject(subject)
        return
    if _numbers(schemas, subject):
        schemas.delete_subject(subject)
    schemas.delete_subject(subject, permanent=True)


def _delete_version(schemas: SchemaRegistry, subject: str, number: int, *, permanent: bool) -> None:
    live = number in _numbers(schemas, subject)
    if live:
        schemas.delete_version(subject, number)
    if permanent:
        schemas.delete_version(subject, number, permanent=True)


def _confirm(question: str) -> None:
    if not sys.stdin.isatty():
        raise UsageError(
            "CONFIRMATION_NEEDED",
            "nobody can be asked whether to delete, since stdin is not a terminal",
            hint="Add --yes to delete without a question.",
        )
    if not typer.confirm(question, err=True):
        talk("nothing was deleted")
        raise typer.Exit(1)
