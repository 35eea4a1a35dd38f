"""`penstock schemas generate`: Python classes of an Avro schema."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.output import talk, write_line
from penstock.cli.schemas_file import is_file, schema_in
from penstock.cli.schemas_opened import number_of, opened_schemas, source_in, version_in
from penstock.errors import SchemaError

if TYPE_CHECKING:
    from penstock.schema.language import SchemaSource


def generate(
    context: typer.Context,
    what: Annotated[
        str, typer.Argument(metavar="SUBJECT|FILE", help="A subject, or a file with a schema.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Where to write; by default stdout."),
    ] = None,
    version: Annotated[
        str, typer.Option("--version", metavar="VERSION", help="Which version of the subject.")
    ] = "latest",
) -> None:
    """Write typed dataclasses that read and write the records of an Avro schema."""
    from penstock.schema.avro.generate import generate as generated  # noqa: PLC0415
    from penstock.schema.registry.avro_language import parsed  # noqa: PLC0415

    text = generated(parsed(_source(context, what, version)))
    if output is None:
        write_line(text.rstrip("\n"))
        return
    output.write_text(text, encoding="utf-8")
    talk(f"{output} written")


def _source(context: typer.Context, what: str, version: str) -> SchemaSource:
    if is_file(what):
        from penstock.schema.language import SchemaSource  # noqa: PLC0415

        schema = schema_in(what)
        _refuse_other(what, schema.type)
        return SchemaSource(schema.text)
    with opened_schemas(context) as schemas:
        found = version_in(schemas, what, number_of(version))
        _refuse_other(what, found.schema.type)
        return source_in(schemas, found)


def _refuse_other(what: str, type_: str) -> None:
    if type_ != "AVRO":
        raise SchemaError(
            "GENERATE_TYPE",
            f'"{what}" is a schema in {type_}, of which no classes are made',
            hint="Give an Avro schema; protoc makes classes of Protobuf schemas.",
        )
