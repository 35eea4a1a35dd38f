"""Streams of rows as they come from a topic."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import get_args

from typing_extensions import override

from penstock.errors import ModelError, did_you_mean
from penstock.model.condition import require_condition, require_event_time
from penstock.model.relation import Relation
from penstock.model.start import BEGINNING, Start
from penstock.model.times import Times
from penstock.model.watermark import IN_ORDER, Punctuated, Watermark
from penstock.schema.codec.format import Format, OnError
from penstock.schema.schema import Schema

_POLICIES = get_args(OnError)


@dataclass(frozen=True, slots=True)
class Stream(Relation):
    """The rows of a topic. `event_time` names the column that tells when each happened.

    Without `event_time` the time the log took the row counts (ingestion time). A column
    `_weight` of the topic marks a changelog: -1 takes a row back.

    Where `files` is given the rows are those of the files that it names, and `topic` is only
    what they are called. Where `key` is given, a tombstone of the topic deletes what has its key.

    Where `format` is given the topic holds bytes, which are read by it; `on_error` says what
    becomes of a value that cannot be. `key_format` says how the bytes of keys are read, which is
    as text where it is not given: they fill the columns of `key` that a value does not have.

    `start` is where reading begins when the program runs for the first time. `times` tells when
    rows happened where no column does before they are read.
    """

    topic: str
    columns: Schema
    event_time: str | None = None
    watermark: Watermark = IN_ORDER
    changelog: bool = False
    site: str = field(default="", compare=False)
    files: str | None = None
    key: tuple[str, ...] = ()
    format: Format | None = None
    on_error: OnError = "dead_letter"
    key_format: Format | None = None
    start: Start = BEGINNING
    times: Times | None = None

    def __post_init__(self) -> None:
        if self.on_error not in _POLICIES:
            raise ModelError(
                "ON_ERROR",
                f'stream "{self.topic}" has the policy "{self.on_error}" for values that cannot be'
                f" read ({self.site})",
                hint=did_you_mean(self.on_error, _POLICIES) or f"Give {', '.join(_POLICIES)}.",
            )
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
