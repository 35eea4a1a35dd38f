"""Streams of rows as they come from a topic."""

from __future__ import annotations

from dataclasses import dataclass, field

from typing_extensions import override

from penstock.errors import ModelError
from penstock.model.relation import Relation
from penstock.model.watermark import BoundedDisorder, Watermark
from penstock.schema.schema import Schema
from penstock.schema.types import Kind


@dataclass(frozen=True, slots=True)
class Stream(Relation):
    """The rows of a topic. `event_time` names the column that tells when each happened.

    Without `event_time` the time the log took the row counts (ingestion time). A column
    `_weight` of the topic marks a changelog: -1 takes a row back.
    """

    topic: str
    columns: Schema
    event_time: str | None = None
    watermark: Watermark = BoundedDisorder()
    changelog: bool = False
    site: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if self.event_time is None:
            return
        found = self.columns.field(self.event_time, role="event time", site=self.site)
        if found.type.kind not in (Kind.TIMESTAMP, Kind.INT64):
            raise ModelError(
                "EVENT_TIME_TYPE",
                f'event time "{self.event_time}" is of type {found.type} ({self.site})',
                hint="Use a timestamp, or an int64 of milliseconds since 1970.",
            )

    @property
    @override
    def schema(self) -> Schema:
        return self.columns

    @property
    @override
    def inputs(self) -> tuple[Relation, ...]:
        return ()

    @property
    @override
    def retracts(self) -> bool:
        return self.changelog
