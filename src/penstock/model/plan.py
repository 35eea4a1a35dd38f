"""A whole program: what is written where."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from penstock.errors import ModelError
from penstock.model.relation import Relation
from penstock.model.store import Store
from penstock.schema.codec.format import Format


@dataclass(frozen=True, slots=True)
class Sink:
    """A relation written to a topic; `keys` decide the partition of each record.

    Rows too late and rows that failed go beside it: to `late` and `dead`, on by default
    (`<topic>.late`, `<topic>.dead`); none turns one off, and its rows are only counted. With
    `upsert` the topic holds the table: the last record of a key is its row, or a tombstone.
    Where `store` is given the rows are those of a table there, called as `topic` says. With
    `raw` a record is bytes as they are: columns `_key`, which is the only key, and `value`, where
    null is a tombstone; the topic has no schema. With `format` a record is bytes as well: its
    value is the row as the format writes it, its key the key columns as `key_format` does, or as
    text. Where `gone` names a column of truths, rows in which it is true are tombstones of their
    key, and the topic does not have that column.
    """

    relation: Relation
    topic: str
    keys: tuple[str, ...] = ()
    late: str | None = ""
    dead: str | None = ""
    site: str = field(default="", compare=False)
    upsert: bool = False
    store: Store | None = None
    raw: bool = False
    format: Format | None = None
    key_format: Format | None = None
    gone: str | None = None

    def __post_init__(self) -> None:
        for key in self.keys:
            self.relation.schema.field(key, role="key", site=self.site)

    @property
    def place(self) -> str:
        """Where its rows go, in words."""
        return self.topic if self.store is None else f"{self.topic} in {self.store}"

    @property
    def late_topic(self) -> str | None:
        """Where late rows go."""
        return f"{self.topic}.late" if self.late == "" else self.late

    @property
    def dead_topic(self) -> str | None:
        """Where dead letters go."""
        return f"{self.topic}.dead" if self.dead == "" else self.dead


@dataclass(frozen=True, slots=True)
class Plan:
    """A named program: at least one sink."""

    name: str
    sinks: tuple[Sink, ...]

    def __post_init__(self) -> None:
        if not self.sinks:
            raise ModelError(
                "PROGRAM_EMPTY",
                f'program "{self.name}" writes nothing',
                hint='End a stream with .to("topic").',
            )
        _refuse_shared_topics(self.sinks)

    def walk(self) -> Iterator[Relation]:
        """Give every step once, inputs first."""
        seen: set[int] = set()
        for sink in self.sinks:
            for relation in sink.relation.walk():
                if id(relation) not in seen:
                    seen.add(id(relation))
                    yield relation


_RESULTS = "results"


def _refuse_shared_topics(sinks: tuple[Sink, ...]) -> None:
    """Refuse a topic of rows that look different; sinks may share one for late or dead rows."""
    written: dict[str, tuple[str, Sink]] = {}
    for sink in sinks:
        for role, topic in _roles(sink):
            first, by = written.setdefault(topic, (role, sink))
            if role != first or (by is not sink and role == _RESULTS):
                raise ModelError(
                    "TOPIC_TWICE",
                    f'topic "{topic}" is written twice: {first} ({by.site}), {role} ({sink.site})',
                    hint="Give one another name, or write the union of both.",
                )


def _roles(sink: Sink) -> Iterator[tuple[str, str]]:
    yield _RESULTS, sink.topic
    if sink.late_topic is not None:
        yield "late rows", sink.late_topic
    if sink.dead_topic is not None:
        yield "dead letters", sink.dead_topic
