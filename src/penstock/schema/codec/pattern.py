"""Values that are lines of text, taken apart by a regular expression with named groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from penstock.errors import SchemaError, did_you_mean
from penstock.schema.arrow import to_arrow
from penstock.schema.codec.binary import one_array, texts_of, without_rows
from penstock.schema.codec.format import Format
from penstock.schema.codec.options import check_options, choice
from penstock.schema.codec.port import Codec, Decoded
from penstock.schema.codec.schemas import Schemas
from penstock.schema.codec.text_column import read_texts
from penstock.schema.codec.times import Times, times_of
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT32, INT64, STRING, TIMESTAMP, Type

_LINE = "_line"


@dataclass(frozen=True, slots=True)
class KnownPattern:
    """A pattern with a name: the columns it gives, and how it writes null and timestamps."""

    pattern: str
    columns: Mapping[str, Type]
    null: str
    timestamp: str


KNOWN: Mapping[str, KnownPattern] = {
    # The size is there even where it is empty, since a server writes "-" for none.
    "access_log": KnownPattern(
        r"^(?P<host>\S+) (?P<identity>\S+) (?P<user>\S+) \[(?P<time>[^\]]*)\]"
        r' "(?P<method>\S+) (?P<path>\S+)(?: (?P<protocol>[^"]*))?"'
        r" (?P<status>\S+) ?(?P<size>\S*)"
        r'(?: "(?P<referrer>[^"]*)" "(?P<agent>[^"]*)")?\s*$',
        {
            **dict.fromkeys(("host", "identity", "user"), STRING),
            "time": TIMESTAMP,
            **dict.fromkeys(("method", "path", "protocol"), STRING),
            "status": INT32,
            "size": INT64,
        },
        null="-",
        timestamp="apache",
    ),
}


def pattern_codec(format: Format, schema: Schema | None, _: Schemas | None) -> Codec:  # noqa: A002
    """Give the codec of lines that match a pattern of one's own, or one that has a name."""
    check_options(format, ("damaged", "name", "null", "pattern", "timestamp"))
    known = _known(format)
    if known is not None:
        format = Format(  # noqa: A001
            format.name,
            tuple(
                {"null": known.null, "timestamp": known.timestamp, **dict(format.options)}.items()
            ),
        )
    pattern = format.option("pattern") if known is None else known.pattern
    groups, times = _groups(format, pattern), times_of(format)
    forgiving = choice(format, "damaged", ("fail", "null")) == "null"
    if schema is None:
        columns = known.columns if known is not None else dict.fromkeys(groups, STRING)
        schema = Schema(tuple(Field(name, type_) for name, type_ in columns.items()))
    for field in schema.fields:
        _check_column(field, groups)
    return PatternCodec(schema, pattern, times, dict(format.options).get("null"), forgiving)


@dataclass(frozen=True, slots=True)
class PatternCodec:
    """Reads a line by the groups of a pattern; a line that does not match is a failure.

    A group whose text is not of its column's type makes the line a failure too, or is null where
    `forgiving`; one that took no part is null.
    """

    schema: Schema
    pattern: str
    times: Times
    null: str | None
    forgiving: bool

    def decode(self, values: pa.Array) -> Decoded:
        """Read values."""
        texts, failures = texts_of(one_array(values))
        groups = pl.Series(texts).str.extract_groups(f"(?P<{_LINE}>{self.pattern})").struct.unnest()
        lost = pc.and_(texts.is_valid(), groups[_LINE].to_arrow().is_null())
        for place in np.flatnonzero(lost.to_numpy(zero_copy_only=False)).tolist():
            failures[place] = "does not match the pattern"
        columns = []
        for field in self.schema.fields:
            column, damage = read_texts(self._texts(groups[field.name]), field, self.times)
            columns.append(column)
            if not self.forgiving:
                for place, why in damage.items():
                    failures.setdefault(place, f'column "{field.name}": {why}')
        columns = [without_rows(column, failures) for column in columns]
        return Decoded(pa.table(columns, schema=to_arrow(self.schema)), failures)

    def encode(self, rows: pa.Table) -> pa.Array:  # noqa: ARG002
        """Refuse, since a pattern does not say what lies between its groups."""
        raise SchemaError(
            "FORMAT_READ_ONLY",
            'values of format "pattern" can be read but not written',
            hint="Write them as json or delimited.",
        )

    def _texts(self, group: pl.Series) -> pa.Array:
        texts = group.to_arrow().cast(pa.string())
        if self.null is None:
            return texts
        return pc.if_else(pc.equal(texts, self.null), pa.scalar(None, pa.string()), texts)


def _known(format: Format) -> KnownPattern | None:  # noqa: A002
    name, pattern = format.option("name"), format.option("pattern")
    if bool(name) == bool(pattern):
        raise SchemaError(
            "FORMAT_OPTION",
            'format "pattern" takes either a pattern or the name of a known one',
            hint=f"Give pattern=... with named groups, or name= one of: {', '.join(KNOWN)}.",
        )
    if name and name not in KNOWN:
        raise SchemaError(
            "FORMAT_OPTION",
            f'pattern "{name}" is not known',
            hint=did_you_mean(name, KNOWN) or f"The known patterns: {', '.join(KNOWN)}.",
        )
    return KNOWN.get(name)


def _groups(format: Format, pattern: str) -> list[str]:  # noqa: A002
    """Give the names of a pattern's groups."""
    try:
        found = pl.Series([""]).str.extract_groups(pattern).struct.fields
    except pl.exceptions.PolarsError as error:
        raise SchemaError(
            "FORMAT_OPTION",
            f'the pattern of format "{format.name}" is not a regular expression: {error}',
            hint="Write groups as (?P<name>...); there is no looking ahead or back.",
        ) from error
    names = [name for name in found if not name.isdigit()]
    if not names:
        raise SchemaError(
            "FORMAT_OPTION",
            f'the pattern of format "{format.name}" has no named group',
            hint="Name what shall be a column: (?P<name>...).",
        )
    return names


def _check_column(field: Field, groups: list[str]) -> None:
    if field.name not in groups:
        raise SchemaError(
            "FORMAT_SCHEMA",
            f'column "{field.name}" is no group of the pattern',
            hint=did_you_mean(field.name, groups) or f"Its groups: {', '.join(groups)}.",
        )
