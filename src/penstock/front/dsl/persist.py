"""Results in a store: what `Stream.persist` and `Table.persist` do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from penstock.front.dsl.program import Program
from penstock.model.plan import Sink
from penstock.model.relation import Relation
from penstock.model.site import user_site
from penstock.model.store import Store, store_of
from penstock.model.table_key import table_key
from penstock.model.upsert_key import upsert_keys

StoreLike: TypeAlias = Store | str | Path
"""A SQLite file by its path, or a server by its address: `postgresql://host/name`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Persisted:
    """What a table in a store is called and told apart by, and where failed rows go."""

    name: str
    key: str | Sequence[str] | None = None
    late: str | None = ""
    dead: str | None = ""


def sqlite(path: str | Path) -> Store:
    """Name a SQLite file that results or states are kept in."""
    return store_of(Path(path))


def postgres(address: str) -> Store:
    """Name a PostgreSQL database; what the address leaves out libpq finds as it always does."""
    return Store("postgres", address)


def persist(program: Program, relation: Relation, store: StoreLike, words: Persisted) -> None:
    """Let a program keep rows in a table of a store, each batch once.

    Rows that take the place of older ones, those of tables and of running results, are kept by
    their key; others are added. A `key` that is given is the one they are kept by.
    """
    keys = _keys(relation, words.key)
    program.write(
        Sink(
            relation,
            words.name,
            keys or (),
            words.late,
            words.dead,
            user_site(),
            upsert=keys is not None,
            store=store_of(store),
        )
    )


def _keys(relation: Relation, given: str | Sequence[str] | None) -> tuple[str, ...] | None:
    if given is not None:
        return (given,) if isinstance(given, str) else tuple(given)
    known = table_key(relation) if relation.retracts else upsert_keys(relation)
    names = relation.schema.names
    return known if known is not None and all(key in names for key in known) else None
