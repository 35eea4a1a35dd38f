"""Streams of rows as they come from a topic."""

from __future__ import annotations

from dataclasses import dataclass, field

from typing_extensions import override

from penstock.model.condition import require_condition, require_event_time
from penstock.model.relation import Relation
from penstock.model.watermark import IN_ORDER, Punctuated, Watermark
from penstock.schema.schema import Schema


@dataclass(frozen=True, slots=True)
class Stream(Relation):
    """The rows of a topic. `event_time` names the column that tells when each happened.

    Without `event_time` the time the log took the row counts (ingestion time). A column
    `_weight` of the topic marks a changelog: -1 takes a row back.

    Where `files` is given the rows are those of the files that it names, and `topic` is only
    what they are called. Where `key` is given, a tombstone of the topic deletes what has its key.
    """

    topic: str
    columns: Schema
    event_time: str | None = None
    watermark: Watermark = IN_ORDER
    changelog: bool = False
    site: str = field(default="", compare=False)
    files: str | None = None
    key: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for key in self.key:
            self.columns.field(key, role="key", site=self.site)
        if self.event_time is not None:
            require_event_time(self.event_time, self.columns, self.site)
        if isinstance(self.watermark, Punctuated):
            require_event_time(self.watermark.column, self.columns, self.site, "watermark column")
            if self.watermark.control is not None:
                require_condition(self.watermark.control, self.columns, self.site)

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
