"""Topics over HTTP: list, create, describe, change, delete."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from http import HTTPStatus
from typing import Annotated, Any, TypeAlias

from fastapi import APIRouter, Body, Path, Request, Response
from pydantic import Field

from penstock.log.amount import amount_of
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.topic import Topic, TopicConfig
from penstock.serve.access.needs import needs
from penstock.serve.access.role import Role
from penstock.serve.api.own_topic import require_writable
from penstock.serve.entity_tag import not_modified, require_match, tag_of
from penstock.serve.paging import PageAsked, page_of
from penstock.serve.platform import Platform
from penstock.text.schema_text import parse_columns, schema_document
from penstock.text.topic_settings import parse_settings, setting_json

TopicName = Annotated[str, Path(max_length=249, description="A topic's name.")]
Settings: TypeAlias = dict[str, str | int | float | bool | None]
_SETTINGS = "Settings by name, as on the command line: retention: 7d, cleanup: compact."


@dataclass(frozen=True, slots=True)
class TopicListed:
    """A topic in a list; `values` are bytes or columns; null is what the log does not tell."""

    name: str
    partitions: int
    records: int | None
    bytes: int | None
    cleanup: str
    values: str


@dataclass(frozen=True, slots=True)
class TopicPage:
    """Topics by name; `next` is the `after` of the page that follows, none after the last."""

    items: list[TopicListed]
    next: str | None


@dataclass(frozen=True, slots=True)
class PartitionShown:
    """A partition: records from offset `start` up to, not including, `end` can be read.

    What the log does not tell is null.
    """

    partition: int
    start: int
    end: int
    records: int | None
    bytes: int | None
    segments: int | None
    oldest: int | None
    newest: int | None
    """Times of records, in milliseconds since 1970."""


@dataclass(frozen=True, slots=True)
class TopicShown:
    """A topic whole. `schema` is a list of columns, none where values are bytes."""

    name: str
    id: str
    created_at: int | None
    partitions: list[PartitionShown]
    settings: dict[str, Any]
    schema: list[dict[str, Any]] | None


@dataclass(frozen=True, slots=True)
class TopicWanted:
    """A topic to be made; `columns` such as `id bigint not null, name string` make it typed."""

    name: str
    partitions: Annotated[int, Field(ge=1, le=1000)] = 1
    columns: str | None = None
    settings: Settings = field(default_factory=dict)


def routes(platform: Platform) -> APIRouter:
    """Give the routes of topics."""
    log = platform.log
    router = APIRouter(prefix="/topics", tags=["topics"])
    _changing(router, log)
    reader = [needs(Role.READER)]

    @router.get("", dependencies=reader)
    def list_topics(page: PageAsked) -> TopicPage:
        """List topics, by name, with how much they hold."""
        found = page_of(log.topics(), str, page)
        shown = [_listed(log, name) for name in found["items"]]
        return TopicPage(shown, found["next"])

    @router.get("/{name}", dependencies=reader)
    def show_topic(name: TopicName, request: Request, response: Response) -> Any:  # noqa: ANN401  # or 304
        """Describe a topic; the ETag is that of its settings."""
        topic = log.topic(name)
        tag = topic_tag(topic)
        response.headers["ETag"] = tag
        return not_modified(request, tag) or topic_shown(log, topic)

    return router


def _changing(router: APIRouter, log: EmbeddedLog) -> None:
    writer = [needs(Role.WRITER)]

    @router.post("", dependencies=writer, status_code=HTTPStatus.CREATED)
    def create_topic(wanted: TopicWanted, request: Request, response: Response) -> TopicShown:
        """Create a topic. Its partitions and columns stay; its settings can change."""
        require_writable(request, wanted.name)
        config = TopicConfig().with_settings(**_parsed(wanted.settings))
        columns = None if not wanted.columns else parse_columns(wanted.columns)
        made = log.create_topic(
            wanted.name, partitions=wanted.partitions, schema=columns, config=config
        )
        response.headers["ETag"] = topic_tag(made)
        return topic_shown(log, made)

    @router.patch("/{name}", dependencies=writer)
    def change_topic(
        name: TopicName,
        settings: Annotated[Settings, Body(embed=True, description=_SETTINGS)],
        request: Request,
        response: Response,
    ) -> TopicShown:
        """Change settings; null or `none` switches one off. `If-Match` guards against others."""
        require_writable(request, name)
        topic = log.topic(name)
        require_match(request, topic_tag(topic))
        changed = log.configure_topic(name, topic.config.with_settings(**_parsed(settings)))
        response.headers["ETag"] = topic_tag(changed)
        return topic_shown(log, changed)

    @router.delete("/{name}", dependencies=writer, status_code=HTTPStatus.NO_CONTENT)
    def delete_topic(name: TopicName, request: Request) -> None:
        """Delete a topic and all its records."""
        require_writable(request, name)
        require_match(request, topic_tag(log.topic(name)))
        log.delete_topic(name)


def topic_tag(topic: Topic) -> str:
    """Give the entity tag of a topic: what can change of it is its settings."""
    return tag_of([topic.name, topic.topic_id, _settings(topic)])


def topic_shown(log: EmbeddedLog, topic: Topic) -> TopicShown:
    """Give a topic whole."""
    return TopicShown(
        topic.name,
        topic.topic_id,
        topic.created_at or None,
        [_partition(log, topic.name, number) for number in range(topic.partitions)],
        _settings(topic),
        None if topic.schema is None else schema_document(topic.schema),
    )


def _listed(log: EmbeddedLog, name: str) -> TopicListed:
    topic = log.topic(name)
    amount = amount_of(
        part for number in range(topic.partitions) for part in log.segments(name, number)
    )
    return TopicListed(
        name,
        topic.partitions,
        amount.records,
        amount.size,
        topic.config.cleanup,
        "bytes" if topic.schema is None else "columns",
    )


def _partition(log: EmbeddedLog, name: str, number: int) -> PartitionShown:
    bounds = log.bounds(name, number)
    amount = amount_of(log.segments(name, number))
    return PartitionShown(
        number,
        bounds.start,
        bounds.end,
        amount.records,
        amount.size,
        amount.segments,
        amount.oldest,
        amount.newest,
    )


def _settings(topic: Topic) -> dict[str, Any]:
    return {name: setting_json(value) for name, value in asdict(topic.config).items()}


def _parsed(settings: Settings) -> dict[str, object]:
    return parse_settings(
        [f"{name}={'none' if value is None else value}" for name, value in settings.items()]
    )
