"""`penstock schemas check`: what a schema would break, said before it is registered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from penstock.cli.counted import counted
from penstock.cli.options import JsonOption
from penstock.cli.output import talk, write_json, write_line
from penstock.cli.schemas_file import FileArgument, ReferenceOption, TypeOption, schema_in
from penstock.cli.schemas_opened import (
    SubjectArgument,
    level_in,
    opened_schemas,
    source_in,
    version_in,
    versions_in,
)

if TYPE_CHECKING:
    from penstock.schema.avro.nodes import AvroSchema
    from penstock.schema.codec.schemas import SchemaText
    from penstock.schema.language import SchemaSource
    from penstock.schema.registry.port import SchemaRegistry
    from penstock.schema.registry.registered import Registered


@dataclass(frozen=True, slots=True)
class Problem:
    """What one version does not bear: who is broken, and why."""

    version: int
    direction: Literal["backward", "forward"]
    reasons: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """Say who cannot read what."""
        if self.direction == "backward":
            return f"readers with the new schema cannot read data of version {self.version}:"
        return f"readers with version {self.version} cannot read data of the new schema:"


def check(  # noqa: PLR0913, PLR0917  # each parameter is an option
    context: typer.Context,
    subject: SubjectArgument,
    file: FileArgument,
    type_: TypeOption = None,
    references: ReferenceOption = None,
    level: Annotated[
        str | None,
        typer.Option(
            "--level", metavar="LEVEL", help="Check this level instead of the subject's own."
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Say which change would break which readers, and why; exit status 1 if any would."""
    schema = schema_in(file, type_, references)
    with opened_schemas(context) as schemas:
        version_in(schemas, subject)
        used = _level(schemas, subject, level)
        problems = problems_of(schemas, subject, schema, used)
        compared = len(_compared(versions_in(schemas, subject), used))
    if json:
        write_json({"compatible": not problems, "level": used, "problems": as_json(problems)})
    elif problems:
        write_problems(problems)
    else:
        told = f"checked against {counted(compared, 'version')}" if compared else "nothing to check"
        write_line(f'compatible: {told} of subject "{subject}" at level {used}')
    if problems:
        raise typer.Exit(1)


def problems_of(
    schemas: SchemaRegistry, subject: str, schema: SchemaText, level: str
) -> list[Problem]:
    """Compare a schema with the versions that a level asks for, from the last one back."""
    from penstock.schema.registry.languages import language_named  # noqa: PLC0415
    from penstock.schema.schema_id import source_of  # noqa: PLC0415  # Arrow

    new = source_of(schemas, schema)
    # A text with a mistake is refused here, with its place.
    language_named(schema.type).canonical(new)
    found: list[Problem] = []
    for old in _compared(versions_in(schemas, subject), level):
        earlier = source_in(schemas, old)
        if level.startswith(("BACKWARD", "FULL")):
            reasons = _reasons(schema, new, old, earlier, new_reads=True)
            found.append(Problem(old.version, "backward", reasons))
        if level.startswith(("FORWARD", "FULL")):
            reasons = _reasons(schema, new, old, earlier, new_reads=False)
            found.append(Problem(old.version, "forward", reasons))
    return [problem for problem in found if problem.reasons]


def as_json(problems: list[Problem]) -> list[dict[str, object]]:
    """Give problems as a program reads them."""
    return [
        {
            "version": problem.version,
            "direction": problem.direction,
            "breaks": problem.sentence.removesuffix(":"),
            "reasons": list(problem.reasons),
        }
        for problem in problems
    ]


def write_problems(problems: list[Problem], write: Callable[[str], None] = write_line) -> None:
    """Print who is broken and why."""
    for problem in problems:
        write(problem.sentence)
        for reason in problem.reasons:
            write(f"  {reason}")
    if all(problem.direction == "backward" for problem in problems):
        talk("update the schema so that it reads earlier data, or begin another subject")
    else:
        talk("change the schema so that both sides can read, or update readers first")


def _level(schemas: SchemaRegistry, subject: str, said: str | None) -> str:
    from penstock.schema.registry.level import level_named  # noqa: PLC0415

    return level_in(schemas, subject) if said is None else level_named(said)


def _compared(versions: list[Registered], level: str) -> list[Registered]:
    if level == "NONE":
        return []
    return versions[::-1] if level.endswith("_TRANSITIVE") else versions[-1:]


def _reasons(
    schema: SchemaText,
    new: SchemaSource,
    old: Registered,
    earlier: SchemaSource,
    *,
    new_reads: bool,
) -> tuple[str, ...]:
    if old.schema.type != schema.type:
        return (f"the new schema is {schema.type}, and version {old.version} {old.schema.type}",)
    reader, writer = (new, earlier) if new_reads else (earlier, new)
    if schema.type == "AVRO":
        return _avro_reasons(reader, writer)
    from penstock.schema.registry.languages import language_named  # noqa: PLC0415

    return language_named(schema.type).incompatibilities(reader, writer)


def _avro_reasons(reader: SchemaSource, writer: SchemaSource) -> tuple[str, ...]:
    from penstock.schema.avro.compatibility import incompatibilities  # noqa: PLC0415
    from penstock.schema.registry.avro_language import parsed  # noqa: PLC0415

    read = parsed(reader)
    return tuple(
        f"{_field(read, one.location)}: {one.sentence}"
        for one in incompatibilities(read, parsed(writer))
    )


def _field(schema: AvroSchema, location: str) -> str:
    """Name the field that a place in the schema is inside of: `address.city`."""
    from penstock.schema.avro.nodes import Array, Map, Record, Union  # noqa: PLC0415

    names: list[str] = []
    node = schema.follow(schema.root)
    parts = iter(location.strip("/").split("/"))
    for part in parts:
        if isinstance(node, Record) and part == "fields":
            index = int(next(parts))
            names.append(node.fields[index].name)
            node = schema.follow(node.fields[index].type)
            continue
        if isinstance(node, Array) and part == "items":
            node = schema.follow(node.items)
        elif isinstance(node, Map) and part == "values":
            node = schema.follow(node.values)
        elif isinstance(node, Union) and part.isdigit() and int(part) < len(node.branches):
            node = schema.follow(node.branches[int(part)])
    return ".".join(names) or "the schema"
