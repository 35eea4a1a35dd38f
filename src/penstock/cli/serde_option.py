"""The options that say how values of a topic of bytes are written, and the serde they name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from penstock.cli.options import settings_of
from penstock.cli.registry_place import registry_place
from penstock.errors import SchemaError, UsageError

if TYPE_CHECKING:
    from penstock.log.port import Log
    from penstock.log.topic import Topic
    from penstock.schema.codec.format import Format
    from penstock.schema.codec.schemas import Schemas
    from penstock.schema.schema import Schema
    from penstock.schema.serde import Serde

FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="How values are written, such as json, delimited(delimiter=|) or avro; or a serde of"
        " the configuration.",
    ),
]
SchemaOption = Annotated[
    str | None,
    typer.Option(
        "--schema",
        metavar="COLUMNS|FILE",
        help='Columns such as "id bigint, name string", or an .avsc or .proto file.',
    ),
]
SubjectOption = Annotated[
    str | None,
    typer.Option(
        "--subject", metavar="SUBJECT", help="The registry's subject. Default: TOPIC-value."
    ),
]

_WRITTEN = (".avsc", ".avro", ".proto")


class Told(NamedTuple):
    """What the command line says of a topic's values."""

    format: str | None = None
    schema: str | None = None
    subject: str | None = None


def reading_serde(context: typer.Context, log: Log, topic: Topic, told: Told) -> Serde | None:
    """Give how values are read; none where they are shown as they are."""
    found = _format(context, topic, told)
    if found is None:
        return None
    from penstock.schema.serde import serde_of  # noqa: PLC0415  # needs Arrow

    columns = _columns(told.schema)
    schemas = _schemas(context, log)
    try:
        return serde_of(topic.name, found, schema=columns, schemas=schemas)
    except SchemaError as error:
        if error.code == "FORMAT_SCHEMA" and told.format is None:
            # Bound by configuration, which does not say columns: shown as it is.
            return None
        raise


def producing_serde(context: typer.Context, log: Log, topic: Topic, told: Told) -> Serde | None:
    """Give how values are written; its schema is registered, and refused, before any is."""
    found = _format(context, topic, told)
    if found is None:
        return None
    from penstock.schema.serde import writing_serde  # noqa: PLC0415  # needs Arrow

    try:
        return writing_serde(topic.name, found, _columns(told.schema), _schemas(context, log))
    except SchemaError as error:
        if error.code == "FORMAT_SCHEMA" and told.format is None:
            return None
        raise


def _format(context: typer.Context, topic: Topic, told: Told) -> Format | None:
    if topic.schema is not None or told.format is None:
        if told != Told():
            raise UsageError(
                "OPTIONS_CONFLICT",
                f'topic "{topic.name}" has columns, so its values have no format'
                if topic.schema is not None
                else "--schema and --subject belong to a --format",
                hint="Leave out --format, --schema and --subject."
                if topic.schema is not None
                else "Say how values are written, as in --format json.",
            )
        return None if topic.schema is not None else _bound(context, topic)
    from penstock.schema.binding import serde_format  # noqa: PLC0415  # needs Arrow

    return _with_words(serde_format(told.format, settings_of(context).serdes), told, topic)


def _bound(context: typer.Context, topic: Topic) -> Format | None:
    settings = settings_of(context)
    if not settings.topics and not settings.serdes:
        return None
    from penstock.schema.binding import bindings_of  # noqa: PLC0415  # needs Arrow

    bound = bindings_of(settings.serdes, settings.topics).get(topic.name)
    return None if bound is None else bound.value


def _with_words(found: Format, told: Told, topic: Topic) -> Format:
    from dataclasses import replace  # noqa: PLC0415

    from penstock.schema.codec.subject import with_subject  # noqa: PLC0415

    if told.subject is not None:
        found = replace(found, subject=told.subject)
    found = with_subject(found, topic.name)
    if told.schema is not None and told.schema.endswith(_WRITTEN):
        found = replace(found, written=_text(Path(told.schema)))
    return found


def _columns(schema: str | None) -> Schema | None:
    if schema is None or schema.endswith(_WRITTEN):
        return None
    from penstock.schema.arrow import from_arrow  # noqa: PLC0415
    from penstock.text.schema_text import parse_schema  # noqa: PLC0415  # needs Arrow

    return from_arrow(parse_schema(schema))


def _schemas(context: typer.Context, log: Log) -> Schemas:
    from penstock.schema.registry.open import open_schemas  # noqa: PLC0415

    place = registry_place(context)
    schemas = open_schemas(log, place.url, token=place.token, ca_file=place.ca_file)
    context.call_on_close(schemas.close)
    return schemas


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            "FILE_UNREADABLE",
            f'file "{file}" cannot be read: {error}',
            hint="Give a file that holds a schema.",
        ) from error
