"""Tables that do not change while a program runs, and rows joined with them."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TypeAlias, get_args

from penstock.errors import ModelError
from penstock.front.dsl.joins import JoinWords, On, pairs, picks
from penstock.front.dsl.place import placed
from penstock.model.enrich import Enrich, EnrichHow
from penstock.model.relation import Relation
from penstock.model.site import user_site
from penstock.model.static_table import StaticTable
from penstock.schema.annotation import SchemaLike, schema_of

StaticLike: TypeAlias = StaticTable | object
"""A static table, rows as dictionaries, a polars or Arrow table, or the path of files."""


@placed
def static(rows: StaticLike, *, schema: SchemaLike | None = None) -> StaticTable:
    """Give a table that does not change: rows as dictionaries, a table, or the path of files.

    Rows and tables (polars, Arrow, pandas) are copied into the program; without `schema` they
    say their columns. Files (Parquet, CSV with a header, JSON lines; a folder, or a pattern such
    as `countries/*.csv`) are read when the program first starts, and need a `schema`.
    """
    if isinstance(rows, StaticTable):
        return rows
    known = None if schema is None else schema_of(schema)
    if not isinstance(rows, str | Path):
        # Arrow is loaded only for those who come with rows.
        from penstock.schema.arrow_stream import arrow_stream  # noqa: PLC0415

        columns, stream = arrow_stream(rows, known)
        return StaticTable(columns, "held", hashlib.sha256(stream).hexdigest(), stream)
    if known is None:
        raise ModelError(
            "STATIC_SCHEMA",
            f'the columns of "{rows}" are not known before the program runs',
            hint='Give them, as in static("countries.csv", schema={"code": str, "name": str}).',
        )
    return StaticTable(known, "file", str(Path(rows).absolute()))


@placed
def spark_table(name: str, *, schema: SchemaLike) -> StaticTable:
    """Give a table of Spark by its name, read once when the program first starts."""
    return StaticTable(schema_of(schema), "spark", name)


def enriched(
    source: Relation,
    table: StaticLike,
    on: On,
    how: EnrichHow = "inner",
    suffix: str = "_right",
) -> Enrich:
    """Give each row with the rows of a static table that it meets."""
    if how not in get_args(EnrichHow):
        raise ModelError(
            "JOIN_HOW",
            f'a join with a static table of the kind "{how}"',
            hint=f"There are {', '.join(get_args(EnrichHow))}.",
        )
    known, site = static(table), user_site()
    pairs_on = pairs(on)
    for mine, other in pairs_on:
        source.schema.field(mine, role="join key", site=site)
        known.columns.field(other, role="join key", site=site)
    words = JoinWords(on, how, suffix=suffix)
    columns = picks(source.schema, known.columns, pairs_on, words)
    return Enrich(source, known, pairs_on, how, columns, site)
