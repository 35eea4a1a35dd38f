"""A stream joined with files that do not change: its rows find theirs where they are."""

from __future__ import annotations

from dataclasses import replace
from typing import cast, get_args

from penstock.errors import SqlError
from penstock.front.sql.join.condition import Compared
from penstock.front.sql.join.side import on_names
from penstock.front.sql.reading import Rows
from penstock.front.sql.scope import Scope
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.tree_query import Aliased, FileSource, Join
from penstock.front.sql.typed_format import shown_names
from penstock.model.enrich import Enrich, EnrichHow
from penstock.model.join import Pick
from penstock.model.source import Stream
from penstock.model.static_table import StaticTable


def is_static(join: Join, left: Rows) -> bool:
    """Whether rows of a stream are to find rows of files, whenever they come."""
    named = join.right.relation if isinstance(join.right, Aliased) else join.right
    return isinstance(named, FileSource) and join.bound is None and not left.table


def joined_file(join: Join, compared: Compared, text: SourceText) -> Rows:
    """Give the rows of a stream with those of files, which are read once, when a query begins.

    The rows of the stream keep their key, and none of them is sent elsewhere.
    """
    one, other = compared.one, compared.other
    held = {column.held: column.name for column in other.rows.scope.columns if not column.system}
    named = [held.get(name or "") for name in other.held]
    problem = None
    if join.how not in get_args(EnrichHow):
        problem = (f"{join.how.upper()} JOIN with files, whose rows never come", "Use LEFT.")
    elif compared.further or None in named:
        problem = ("ON compares more than columns of the files", "Compare each with a value.")
    if problem is not None:
        raise SqlError("SQL_JOIN", text.shown(problem[0], join.span), hint=problem[1])
    stream = next(it for it in other.rows.relation.walk() if isinstance(it, Stream))
    own = {new: old for old, new in shown_names(stream.columns).items()}
    left = one.relation(nulls=True)
    compares = on_names(len(one.on))
    pairs = zip(compares, (own[str(name)] for name in named), strict=True)
    picks = [Pick(name, left=name) for name in left.schema.names if name not in compares]
    alone = join.how in ("semi", "anti")
    if not alone:
        picks += [Pick(name, right=own[shown]) for name, shown in held.items()]
    table = StaticTable(stream.columns, "file", str(stream.files))
    how = cast("EnrichHow", join.how)
    relation = Enrich(left, table, tuple(pairs), how, tuple(picks), "JOIN")
    columns = [] if alone else [it for it in other.rows.scope.columns if it.held in held]
    scope = Scope((*one.rows.scope.columns, *columns), text)
    return replace(one.rows, relation=relation, scope=scope)
