"""`penstock schemas evolve`: the next version of an Avro schema, made, checked and registered."""

from __future__ import annotations

import json as json_text
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.options import JsonOption
from penstock.cli.output import talk, write_json, write_line
from penstock.cli.schemas_change import write_changes
from penstock.cli.schemas_check import as_json, problems_of, write_problems
from penstock.cli.schemas_edit import added, dropped, renamed, widened
from penstock.cli.schemas_opened import SubjectArgument, level_in, opened_schemas, version_in
from penstock.errors import SchemaError, UsageError
from penstock.schema.change import changes_between

if TYPE_CHECKING:
    from penstock.cli.schemas_check import Problem
    from penstock.schema.change import Change
    from penstock.schema.codec.schemas import SchemaText
    from penstock.schema.registry.port import SchemaRegistry
    from penstock.schema.registry.registered import Registered


def evolve(  # noqa: PLR0913, PLR0917  # each parameter is an option
    context: typer.Context,
    subject: SubjectArgument,
    add: Annotated[
        list[str] | None,
        typer.Option(
            "--add",
            metavar="FIELD",
            help='A new field such as "country string", null by default, or'
            ' "country string default \\"DE\\"".',
        ),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option("--drop", metavar="NAME", help="A field that goes."),
    ] = None,
    rename: Annotated[
        list[str] | None,
        typer.Option("--rename", metavar="OLD=NEW", help="A new name; the old one is an alias."),
    ] = None,
    widen: Annotated[
        list[str] | None,
        typer.Option("--widen", metavar="NAME=TYPE", help="A wider type, such as n=bigint."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show and check the schema, and register nothing.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Make the next version of an Avro schema, check it, and register it."""
    if not (add or drop or rename or widen):
        raise UsageError(
            "EVOLVE_NOTHING",
            "no change is asked for",
            hint="Say one of --add, --drop, --rename and --widen.",
        )
    with opened_schemas(context) as schemas:
        last = version_in(schemas, subject)
        root = _root(subject, last)
        # In this order a field can be renamed and then widened by its new name.
        for text in rename or []:
            renamed(root, text)
        for text in widen or []:
            widened(root, text)
        for text in drop or []:
            dropped(root, text)
        for text in add or []:
            added(root, text)
        schema = replace(last.schema, text=json_text.dumps(root, ensure_ascii=False))
        problems = problems_of(schemas, subject, schema, level_in(schemas, subject))
        changes = _changes(schemas, last, schema)
        registered = None
        if not problems and not dry_run:
            registered = schemas.register(subject, schema)
    _tell(root, changes, problems, registered, as_document=json)


def _tell(
    root: Any,  # noqa: ANN401  # JSON
    changes: list[Change],
    problems: list[Problem],
    registered: Registered | None,
    *,
    as_document: bool,
) -> None:
    if as_document:
        write_json(
            {
                "schema": root,
                "changes": [change.sentence for change in changes],
                "compatible": not problems,
                "problems": as_json(problems),
                "version": None if registered is None else registered.version,
                "id": None if registered is None else registered.id,
            }
        )
    else:
        write_changes(changes)
        if problems:
            write_problems(problems)
        elif registered is None:
            write_line(json_text.dumps(root, indent=2, ensure_ascii=False))
            talk("compatible; nothing was registered")
        else:
            told = f"version {registered.version}, id {registered.id}"
            talk(f'subject "{registered.subject}": {told}')
    if problems:
        talk("nothing was registered")
        raise typer.Exit(1)


def _root(subject: str, last: Registered) -> Any:  # noqa: ANN401
    root = json_text.loads(last.schema.text) if last.schema.type == "AVRO" else None
    if not isinstance(root, dict) or root.get("type") != "record":
        what = "no record" if last.schema.type == "AVRO" else f"a schema in {last.schema.type}"
        raise SchemaError(
            "EVOLVE_TYPE",
            f'subject "{subject}" holds {what}, which cannot be changed field by field',
            hint="Write the next version to a file and register it: penstock schemas register.",
        )
    return root


def _changes(schemas: SchemaRegistry, last: Registered, schema: SchemaText) -> list[Change]:
    from penstock.schema.schema_id import source_of  # noqa: PLC0415  # Arrow

    before, after = source_of(schemas, last.schema), source_of(schemas, schema)
    return changes_between("AVRO", before, after)
