"""The history of a table: every row it had, and from when to when it was valid."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from typing_extensions import override

from penstock.errors import ModelError
from penstock.model.relation import OneInput, Relation
from penstock.model.stateless import Filter, Project, Rekey
from penstock.schema.schema import Field, Schema
from penstock.schema.types import TIMESTAMP

VALID_FROM = "valid_from"
VALID_TO = "valid_to"


@dataclass(frozen=True, slots=True)
class Versions(OneInput):
    """The rows that a table had, each with the time from which and until which it was valid.

    A row is valid from its event time to that of the next one of its key, or of its deletion;
    `valid_to` is null as long as none is known. A row that comes out of order is put in its
    place: what it shortens is taken back and given again. A version is held until the
    watermark is `keep` past its end, and the last one of a key for as long as it is there.
    """

    keys: tuple[str, ...]
    keep: timedelta = timedelta(0)
    site: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if not self.keys:
            raise ModelError(
                "TABLE_KEY",
                f"the versions of a table without a key are asked for ({self.site})",
                hint="Make it a table with .to_table(key=...) first.",
            )
        for key in self.keys:
            self.source.schema.field(key, role="key", site=self.site)
        _ = self.schema

    @property
    @override
    def schema(self) -> Schema:
        bounds = Field(VALID_FROM, TIMESTAMP), Field(VALID_TO, TIMESTAMP)
        return Schema((*self.source.schema.fields, *bounds))

    @property
    @override
    def retracts(self) -> bool:
        return True


def versions_below(relation: Relation) -> Versions | None:
    """Give the versions that a relation shows, if its rows still tell when they are valid."""
    if VALID_FROM not in relation.schema.names or VALID_TO not in relation.schema.names:
        return None
    match relation:
        case Versions():
            return relation
        case Filter() | Project() | Rekey():
            return versions_below(relation.source)
        case _:
            return None
