"""What a format is told, checked: misspelt options and values are refused with a suggestion."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.errors import SchemaError, did_you_mean
from penstock.schema.codec.format import Format
from penstock.schema.schema import Field, Schema
from penstock.schema.types import Type


def check_options(format: Format, known: Sequence[str]) -> None:  # noqa: A002  # our word for it
    """Refuse an option that the format does not have."""
    for name, _ in format.options:
        if name not in known:
            raise SchemaError(
                "FORMAT_OPTION",
                f'format "{format.name}" has no option "{name}"',
                hint=did_you_mean(name, known) or _known_options(known),
            )


def choice(format: Format, name: str, known: Sequence[str]) -> str:  # noqa: A002
    """Give an option that is one of some words; the first of them where nothing is told."""
    value = format.option(name, known[0])
    if value not in known:
        raise SchemaError(
            "FORMAT_OPTION",
            f'option "{name}" of format "{format.name}" is "{value}"',
            hint=did_you_mean(value, known) or f"It is one of: {', '.join(known)}.",
        )
    return value


def flag(format: Format, name: str) -> bool:  # noqa: A002
    """Give an option that is true or false, false where nothing is told."""
    return choice(format, name, ("false", "true")) == "true"


def needed_schema(format: Format, schema: Schema | None) -> Schema:  # noqa: A002
    """Give the columns of a format whose bytes do not tell them."""
    if schema is None or not schema.fields:
        raise SchemaError(
            "FORMAT_SCHEMA",
            f'format "{format.name}" does not say its columns',
            hint="Give the columns with their types.",
        )
    return schema


def single_column(format: Format, schema: Schema | None, type_: Type) -> Schema:  # noqa: A002
    """Give the one column of a format whose values are of one type; `value` by default."""
    if schema is None:
        return Schema((Field("value", type_),))
    if len(schema.fields) != 1 or schema.fields[0].type != type_:
        raise SchemaError(
            "FORMAT_SCHEMA",
            f'format "{format.name}" holds one column of type {type_}, not ({schema})',
            hint=f"Declare one column of type {type_}, or choose another format.",
        )
    return schema


def _known_options(known: Sequence[str]) -> str:
    return f"Its options: {', '.join(known)}." if known else "It has no options."
