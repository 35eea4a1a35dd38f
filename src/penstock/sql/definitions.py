"""The catalog as statements see it: its entries carried out again, in an order that works."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from penstock.errors import SqlError
from penstock.front.sql.catalog import Catalog
from penstock.front.sql.parse import parse_statement
from penstock.front.sql.statement import Outcome, Session, Started
from penstock.sql.catalog_entry import CatalogEntry

_NO_NAME = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(slots=True)
class Definitions:
    """What the entries of a catalog amount to: names, and the queries that run on."""

    entries: tuple[CatalogEntry, ...]
    session: Session = field(default_factory=lambda: Session(Catalog()))
    queries: dict[str, Started] = field(default_factory=dict)

    @property
    def catalog(self) -> Catalog:
        """The names."""
        return self.session.catalog

    @property
    def next_number(self) -> int:
        """The number of the next entry."""
        return max((entry.number for entry in self.entries), default=-1) + 1

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
            if source in {read.name for read in query.reads}
        )


def replayed(entries: Sequence[CatalogEntry]) -> Definitions:
    """Carry out all entries; one that was replaced may need those that were made after it."""
    made = Definitions(tuple(entries))
    waiting = list(entries)
    while waiting:
        refusals: list[tuple[CatalogEntry, SqlError]] = []
        for entry in waiting:
            try:
                _replay(entry, made)
            except SqlError as refusal:
                refusals.append((entry, refusal))
        if len(refusals) == len(waiting):
            first, why = refusals[0]
            raise SqlError(
                "SQL_CATALOG",
                f'{first.kind} "{first.name}" of the catalog cannot be made again: {why.fact}',
                hint="It was made by another version of Penstock: delete its record, make it anew.",
            ) from why
        waiting = [entry for entry, _ in refusals]
    made.catalog.settings.clear()
    return made


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
        made.queries[id_] = named(outcome, id_)
