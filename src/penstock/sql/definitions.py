"""The catalog as statements see it: its entries carried out again, in an order that works."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from penstock.errors import SqlError
from penstock.front.sql.catalog import Catalog, Topics
from penstock.front.sql.parse import parse_statement
from penstock.front.sql.statement import Outcome, Session, Started
from penstock.schema.codec.schemas import Schemas
from penstock.sql.catalog_entry import CatalogEntry
from penstock.sql.named_files import NamedFiles
from penstock.sql.query_start import with_starts
from penstock.sql.working_order import done_in_working_order

_NO_NAME = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(slots=True)
class Definitions:
    """What the entries of a catalog amount to: names, and the queries that run on."""

    entries: tuple[CatalogEntry, ...]
    session: Session = field(default_factory=lambda: Session(Catalog(files=NamedFiles())))
    queries: dict[str, Started] = field(default_factory=dict)
    paused: set[str] = field(default_factory=set)
    reached: int = 0
    """How many changes there have been: no number is given twice, though an entry be gone."""

    @property
    def catalog(self) -> Catalog:
        """The names."""
        return self.session.catalog

    @property
    def next_number(self) -> int:
        """The number of the next entry."""
        return max([self.reached, *(entry.number + 1 for entry in self.entries)])

    @property
    def system_settings(self) -> dict[str, str]:
        """The settings that hold for all sessions."""
        return {
            entry.name: entry.settings[entry.name]
            for entry in self.entries
            if entry.kind == "setting"
        }

    @property
    def runnable(self) -> tuple[Started, ...]:
        """The queries that are to run."""
        return tuple(query for id_, query in self.queries.items() if id_ not in self.paused)

    def entry(self, key: str) -> CatalogEntry | None:
        """Give an entry by its key."""
        return next((entry for entry in self.entries if entry.key == key), None)

    def writers(self, source: str) -> tuple[str, ...]:
        """Give the ids of the queries that write to a source."""
        return tuple(id_ for id_, query in self.queries.items() if query.writes.name == source)

    def readers(self, source: str) -> tuple[str, ...]:
        """Give the ids of the queries that read a source."""
        return tuple(
            id_
            for id_, query in self.queries.items()
            if source in {read.part_of or read.name for read in query.reads}
        )


def replayed(
    entries: Sequence[CatalogEntry],
    reached: int = 0,
    schemas: Schemas | None = None,
    topics: Topics | None = None,
) -> Definitions:
    """Carry out all entries; one that was replaced may need those that were made after it."""
    made = Definitions(tuple(entries), reached=reached)
    made.catalog.schemas, made.catalog.topics = schemas, topics
    _replay_all(entries, made)
    return made


def replayed_partly(
    entries: Sequence[CatalogEntry], schemas: Schemas | None, topics: Topics | None = None
) -> Definitions:
    """Carry out the entries that can be without those that are not given."""
    made = Definitions(tuple(entries))
    made.catalog.schemas, made.catalog.topics = schemas, topics
    _replay_pending(entries, made)
    made.catalog.settings.clear()
    return made


def extended(
    known: Definitions | None,
    entries: Sequence[CatalogEntry],
    reached: int,
    schemas: Schemas | None = None,
    topics: Topics | None = None,
) -> Definitions:
    """Give the definitions of entries; where others were known and only some came, with those."""
    before = () if known is None else known.entries
    if known is None or before != tuple(entries[: len(before)]):
        return replayed(entries, reached, schemas, topics)
    if len(entries) == len(before) and reached == known.reached:
        return known
    made = copied(known)
    made.entries, made.reached = tuple(entries), reached
    _replay_all(entries[len(before) :], made)
    return made


def copied(known: Definitions) -> Definitions:
    """Give definitions that can be changed without the others."""
    catalog = Catalog()
    for item in fields(Catalog):
        held: Any = getattr(known.catalog, item.name)
        setattr(catalog, item.name, _copy_of(held))
    return Definitions(
        known.entries, Session(catalog), dict(known.queries), set(known.paused), known.reached
    )


def _copy_of(held: Any) -> Any:  # noqa: ANN401  # what a catalog holds: names to values, or sets
    if isinstance(held, dict):
        return {name: set(it) if isinstance(it, set) else it for name, it in held.items()}
    return held


def _replay_all(entries: Sequence[CatalogEntry], made: Definitions) -> None:
    refusals = _replay_pending(entries, made)
    if refusals:
        first, why = refusals[0]
        raise SqlError(
            "SQL_CATALOG",
            f'{first.kind} "{first.name}" of the catalog cannot be made again: {why.fact}',
            hint="It was made by another version of Penstock: delete its record, make it anew.",
        ) from why
    made.catalog.settings.clear()


def _replay_pending(
    entries: Sequence[CatalogEntry], made: Definitions
) -> list[tuple[CatalogEntry, SqlError]]:
    """Carry out entries in an order that works; give those for which there is none."""
    return done_in_working_order(entries, lambda entry: _replay(entry, made), SqlError)


def named(started: Started, id_: str) -> Started:
    """Give a query under an id of the catalog's."""
    return replace(started, id=id_, plan=replace(started.plan, name=id_))


def query_id(started: Started, number: int) -> str:
    """Give a new query its id: what it does, what it writes to, and its number."""
    stem, _, _ = started.id.rpartition("_")
    return f"{_NO_NAME.sub('_', stem)}_{number}"


def with_settings(catalog: Catalog, settings: Mapping[str, str]) -> None:
    """Let settings hold for the next statement."""
    catalog.settings.clear()
    catalog.settings.update(settings)


def _replay(entry: CatalogEntry, made: Definitions) -> None:
    outcome: Outcome | None = None
    with_settings(made.catalog, entry.settings)
    for text in entry.statements:
        outcome = made.session.execute(parse_statement(text))
    if isinstance(outcome, Started):
        id_ = entry.query or entry.name
        made.queries[id_] = with_starts(named(outcome, id_), entry.starts)
        if entry.paused:
            made.paused.add(id_)
