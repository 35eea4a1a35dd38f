"""Schemas in files: their text, their language, and what they refer to."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from penstock.errors import SchemaError, UsageError, did_you_mean

if TYPE_CHECKING:
    from penstock.schema.codec.schemas import Reference, SchemaText, SchemaType

TYPES = ("AVRO", "JSON", "PROTOBUF")

FileArgument = Annotated[
    str, typer.Argument(metavar="FILE", help="A file that holds a schema; - is stdin.")
]
TypeOption = Annotated[
    str | None,
    typer.Option(
        "--type", metavar="TYPE", help="AVRO, JSON or PROTOBUF; by default what the file holds."
    ),
]
ReferenceOption = Annotated[
    list[str] | None,
    typer.Option(
        "--reference",
        metavar="NAME=SUBJECT:VERSION",
        help="A schema that this one names, and where it is registered.",
    ),
]


def schema_in(
    file: str, type_: str | None = None, references: list[str] | None = None
) -> SchemaText:
    """Read a schema from a file, or from stdin."""
    from penstock.schema.codec.schemas import SchemaText  # noqa: PLC0415

    text = _text(file)
    found = tuple(map(_reference, references or []))
    return SchemaText(text, _type(file, text, type_), found)


def is_file(word: str) -> bool:
    """Whether a word names a file rather than a subject or a version."""
    return word == "-" or Path(word).is_file()


def _text(file: str) -> str:
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        near = _near(file)
        raise SchemaError(
            "SCHEMA_FILE",
            f'schema file "{file}" cannot be read: {error}',
            hint=near or "Give the path of a .avsc, .json or .proto file, or - for stdin.",
        ) from None
    return text


def _near(file: str) -> str:
    try:
        names = [str(entry) for entry in Path(file).parent.iterdir() if entry.is_file()]
    except OSError:
        return ""
    return did_you_mean(file, names)


def _type(file: str, text: str, said: str | None) -> SchemaType:
    if said is not None:
        if said.upper() not in TYPES:
            raise UsageError(
                "SCHEMA_TYPE",
                f'schema type "{said}" does not exist',
                hint=did_you_mean(said.upper(), TYPES) or f"Types: {', '.join(TYPES)}.",
            )
        return cast("SchemaType", said.upper())
    suffix = Path(file).suffix.lower()
    if suffix == ".proto":
        return "PROTOBUF"
    return "AVRO" if suffix == ".avsc" else _guessed(text)


def _guessed(text: str) -> SchemaType:
    """Tell the languages apart by what only one of them writes."""
    try:
        found = json.loads(text)
    except ValueError:
        return "PROTOBUF" if "message" in text or "syntax" in text else "AVRO"
    if not isinstance(found, dict):
        return "AVRO"
    avro = found.get("type") in ("record", "enum", "fixed", "map", "error") or "fields" in found
    return "AVRO" if avro or isinstance(found.get("items"), str) else "JSON"


def _reference(text: str) -> Reference:
    from penstock.schema.codec.schemas import Reference  # noqa: PLC0415

    name, equals, target = text.rpartition("=")
    subject, colon, version = target.rpartition(":")
    if not (equals and colon and name and subject and version.isdigit()):
        raise UsageError(
            "REFERENCE_FORMAT",
            f'"{text}" is no reference',
            hint="Write it as NAME=SUBJECT:VERSION, such as address.proto=address-value:1.",
        )
    return Reference(name, subject, int(version))
