"""Records over HTTP: produce them, and look through them decoded."""

from __future__ import annotations

import base64
import binascii
from dataclasses import asdict, dataclass, field
from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Query, Request
from pydantic import Field

from penstock.errors import RequestError
from penstock.log.position import offset_at
from penstock.log.record import TopicPartition
from penstock.serve.access.needs import needs
from penstock.serve.access.role import Role
from penstock.serve.api.own_topic import require_writable
from penstock.serve.api.topics import TopicName
from penstock.serve.platform import Platform
from penstock.serve.record_browser import Filter, RecordBrowser, Stretch, whole_topic
from penstock.serve.record_rows import RecordRows
from penstock.serve.record_writer import Outgoing, RecordWriter
from penstock.text.place import parse_place

_MOST = 10_000
_LARGEST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class RecordShown:
    """A record, decoded; `problem` says why its value could not be, and is given as it is."""

    partition: int
    offset: int
    timestamp: int
    key: Any
    value: Any
    headers: list[list[Any]]
    problem: str = ""


@dataclass(frozen=True, slots=True)
class RecordPage:
    """Records by time; `next` is the `after` of what follows, none at the end.

    A filter that finds little gives a short page with a `next`: `scanned` were looked at.
    """

    items: list[RecordShown]
    next: str | None
    scanned: int


@dataclass(frozen=True, slots=True)
class RecordWanted:
    """A record to be written. Text is written as it is, `{"base64": ...}` as its bytes.

    Anything else is written as JSON, or by the columns or the format of the topic.
    """

    value: Any
    key: Any = None
    headers: list[tuple[str, Any]] = field(default_factory=list)
    timestamp: int | str | None = None
    """Milliseconds since 1970, or ISO 8601; now by default."""
    partition: Annotated[int | None, Field(ge=0, le=2**31 - 1)] = None


@dataclass(frozen=True, slots=True)
class RecordsWanted:
    """Records to be written, in their order; with `atomic` readers see all or none of them."""

    records: Annotated[list[RecordWanted], Field(min_length=1, max_length=_MOST)]
    atomic: bool = False
    format: str = ""
    """How values are written, such as `avro`, for a topic of bytes."""


@dataclass(frozen=True, slots=True)
class RecordPlace:
    """Where a record is now."""

    partition: int
    offset: int


@dataclass(frozen=True, slots=True)
class RecordsWritten:
    """Where the records are, in the order they were given."""

    topic: str
    records: list[RecordPlace]


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a page of records is asked for."""

    partition: int | None
    start: str | None
    end: str | None
    newest_first: bool
    after: str | None


def routes(platform: Platform) -> APIRouter:
    """Give the routes of records."""
    router = APIRouter(prefix="/topics/{name}/records", tags=["records"])
    writer = RecordWriter(platform.log, platform.registry)

    @router.get("", dependencies=[needs(Role.READER)])
    def browse_records(  # noqa: PLR0913  # what a request may say
        name: TopicName,
        *,
        partition: Annotated[int | None, Query(ge=0, description="Only this one.")] = None,
        start: Annotated[
            str | None,
            Query(alias="from", max_length=60, description="An offset, or a time (ISO 8601)."),
        ] = None,
        end: Annotated[
            str | None, Query(alias="to", max_length=60, description="Up to, not including.")
        ] = None,
        key: Annotated[str | None, Query(max_length=10_000, description="Only this key.")] = None,
        text: Annotated[
            str | None, Query(max_length=1000, description="Only records that say this.")
        ] = None,
        newest: Annotated[bool, Query(description="The newest first.")] = False,
        limit: Annotated[int, Query(ge=1, le=1000, description="How many at most.")] = 100,
        after: Annotated[str | None, Query(max_length=20_000)] = None,
    ) -> RecordPage:
        """Look through the records of a topic, decoded, by time."""
        asked = _Asked(partition, start, end, newest, after)
        stretches = _stretches(platform, name, asked)
        rows = RecordRows(
            platform.log, platform.registry, name, declared=platform.tables.declared(name)
        )
        browser = RecordBrowser(platform.log, rows, name, newest_first=newest)
        found = browser.find(stretches, Filter(key, text), limit)
        shown = [RecordShown(**row) for row in found.rows]
        return RecordPage(shown, _cursor(found.left) if found.left else None, found.scanned)

    @router.post("", dependencies=[needs(Role.WRITER)], status_code=HTTPStatus.CREATED)
    def produce_records(name: TopicName, wanted: RecordsWanted, request: Request) -> RecordsWritten:
        """Write records. An `Idempotency-Key` makes it safe to send them again."""
        require_writable(request, name)
        records = [
            Outgoing(one.value, one.key, one.headers, one.timestamp, one.partition)
            for one in wanted.records
        ]
        landed = writer.write(name, records, format_=wanted.format, atomic=wanted.atomic)
        return RecordsWritten(name, [RecordPlace(*place) for place in landed])

    return router


def _stretches(platform: Platform, name: str, asked: _Asked) -> dict[int, Stretch]:
    log = platform.log
    numbers = range(log.topic(name).partitions) if asked.partition is None else [asked.partition]
    whole = whole_topic(log, name, numbers)
    if asked.after is not None:
        left = _read_cursor(asked.after)
        return {
            number: Stretch(
                min(max(left[number].start, stretch.start), stretch.end),
                min(left[number].end, stretch.end),
            )
            for number, stretch in whole.items()
            if number in left
        }
    return {
        number: Stretch(
            _place(platform, name, number, asked.start, stretch.start, stretch),
            _place(platform, name, number, asked.end, stretch.end, stretch),
        )
        for number, stretch in whole.items()
    }


def _place(  # a place and what it is a place in
    platform: Platform, name: str, number: int, said: str | None, usual: int, stretch: Stretch
) -> int:
    if said is None:
        return usual
    place = parse_place(said)
    if isinstance(place, datetime):
        found = offset_at(platform.log, TopicPartition(name, number), place)
    elif isinstance(place, int):
        found = place
    else:
        found = stretch.start if place == "earliest" else stretch.end
    return min(max(found, stretch.start), stretch.end)


def _cursor(left: dict[int, Stretch] | Any) -> str:  # noqa: ANN401  # a mapping of stretches
    told = {str(number): [stretch.start, stretch.end] for number, stretch in left.items()}
    return base64.urlsafe_b64encode(orjson.dumps(told)).decode().rstrip("=")


def _read_cursor(cursor: str) -> dict[int, Stretch]:
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        told = orjson.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        found = {
            int(number): Stretch(int(start), int(end)) for number, (start, end) in told.items()
        }
        if any(
            not 0 <= place <= _LARGEST for one in found.values() for place in asdict(one).values()
        ):
            raise ValueError  # noqa: TRY301  # told in one way
    except (binascii.Error, UnicodeError, ValueError, AttributeError, TypeError) as error:
        raise RequestError(
            "CURSOR_WRONG",
            "`after` is no cursor of a page",
            hint="Use the `next` of the page before, as it was.",
        ) from error
    return found
