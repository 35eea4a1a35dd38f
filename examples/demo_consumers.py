"""The four consumers of each page view, one group each: archive, live count, alert and mail.

What a group has done and how far it has read are committed together, or what it does twice changes
nothing: after a kill each goes on as if nothing had been.
"""

from __future__ import annotations

import json
import threading
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from email.message import EmailMessage
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from examples.demo_views import STATUS, VIEWS
from penstock import Consumer, open_log
from penstock.connect.mail import MailSettings, send_mail
from penstock.log.port import Log
from penstock.log.record import Record, TopicPartition
from penstock.log.topic import TopicConfig

LIVE, FAILURES = "views_by_page", "failures_by_page"
LIVE_SCHEMA = pa.schema([("pageid", pa.string()), ("views", pa.int64())])
FAILURES_SCHEMA = pa.schema([("pageid", pa.string()), ("failures", pa.int64())])
TABLES: Mapping[str, pa.Schema] = {LIVE: LIVE_SCHEMA, FAILURES: FAILURES_SCHEMA}

_PAUSE = 0.25
_MOST = 5_000
_FILE_ROWS = 2_000
_RECENT = 20_000
_MILESTONE = 1_000

Rows: TypeAlias = Mapping[str, pa.Table]
"""What is to be written, by topic."""


class Work(Protocol):
    """What a group does with records; `state` is what it knows, and is given back to it."""

    group: str

    def do(self, records: Sequence[Record], state: dict[str, Any]) -> Rows:
        """Do it, and give what is to be written together with how far was read."""
        ...


class LiveCount:
    """Counts the views of each page, for the dashboard."""

    group = "live-count"

    def do(self, records: Sequence[Record], state: dict[str, Any]) -> Rows:
        """Give the new counts of the pages that were viewed."""
        seen = Counter(_page(record) for record in records if _is_view(record))
        for page, more in seen.items():
            state[page] = state.get(page, 0) + more
        return _table(LIVE, {page: state[page] for page in seen})


class FailingPages:
    """Counts how often each page has failed lately: the rule `failing_pages` is on that."""

    group = "failing-pages"

    def do(self, records: Sequence[Record], state: dict[str, Any]) -> Rows:
        """Give the new counts of pages that have failed, and of those whose failures are over."""
        recent = deque(state.get("recent", ()))
        for record in records:
            if dict(record.headers).get(STATUS) == b"500":
                recent.append([record.timestamp, _page(record)])
        now = max((record.timestamp for record in records), default=0)
        while recent and recent[0][0] < now - _RECENT:
            recent.popleft()
        before, after = state.get("told", {}), Counter(page for _, page in recent)
        changed = {page for page in {*before, *after} if before.get(page, 0) != after.get(page, 0)}
        state.update(recent=list(recent), told=dict(after))
        return _table(FAILURES, {page: after.get(page, 0) for page in sorted(changed)})


class Archive:
    """Keeps every record as it came in Parquet files, named by the offsets that are in them."""

    group = "archive"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._next = _archived(folder)

    def do(self, records: Sequence[Record], state: dict[str, Any]) -> Rows:
        """Write a file of each partition; what is in one already is passed over."""
        del state
        for partition in sorted({record.partition for record in records}):
            fresh = [
                record
                for record in records
                if record.partition == partition and record.offset >= self._next.get(partition, 0)
            ]
            if fresh:
                self._write(partition, fresh)
        return {}

    def _write(self, partition: int, records: Sequence[Record]) -> None:
        first, last = records[0].offset, records[-1].offset
        folder = self._folder / f"partition={partition}"
        folder.mkdir(parents=True, exist_ok=True)
        partial = folder / f".{first:012}.part"
        pq.write_table(
            pa.table(
                {
                    "offset": [record.offset for record in records],
                    "timestamp": [record.timestamp for record in records],
                    "key": pa.array([record.key for record in records], pa.binary()),
                    "value": pa.array([record.value for record in records], pa.binary()),
                }
            ),
            partial,
        )
        partial.rename(folder / f"{first:012}-{last:012}.parquet")
        self._next[partition] = last + 1


class Milestones:
    """Writes to the author of a page at every thousandth view."""

    group = "mail"

    def __init__(self, settings: MailSettings) -> None:
        self._settings = settings

    def do(self, records: Sequence[Record], state: dict[str, Any]) -> Rows:
        """Send what is due; the id of a mail is the same when it is sent again."""
        for record in records:
            if _is_view(record):
                page = _page(record)
                state[page] = state.get(page, 0) + 1
                if state[page] % _MILESTONE == 0:
                    send_mail(self._mail(page, state[page]), self._settings)
        return {}

    def _mail(self, page: str, views: int) -> EmailMessage:
        mail = EmailMessage()
        mail["From"], mail["To"] = self._settings.sender, f"author-of-{page.lower()}@example.com"
        mail["Subject"] = f"{page} has had {views:,} views"
        mail["Message-ID"] = f"<{page.lower()}-{views}@penstock.invalid>"
        mail.set_content(f"Somebody has just looked at {page}: that is view number {views:,}.\n")
        return mail


def make_tables(log: Log) -> None:
    """Create the topics that groups write, where they are not there yet."""
    compacted = TopicConfig(cleanup="compact", fsync="interval")
    for topic, schema in TABLES.items():
        if topic not in log.topics():
            log.create_topic(topic, schema=schema, config=compacted)


def consume(home: Path, work: Work, stopping: threading.Event, *, least: int = 1) -> None:
    """Let a group read page views until it is to stop; fewer than `least` wait for more."""
    with (
        open_log(home) as log,
        closing(log.transaction(f"demo.{work.group}")) as transaction,
        Consumer(
            log,
            VIEWS,
            group=work.group,
            auto_commit=None,
            instance_id="demo",
            max_poll_records=_MOST,
        ) as consumer,
    ):
        state: dict[str, Any] = json.loads(transaction.note or "{}")
        waiting: list[Record] = []
        while not stopping.wait(_PAUSE):
            waiting += consumer.poll(timeout=_PAUSE)
            if len(waiting) < least:
                continue
            rows = work.do(waiting, state)
            transaction.begin()
            for topic, table in rows.items():
                transaction.append(topic, 0, table)
            transaction.commit_offsets(work.group, _next_offsets(waiting))
            transaction.commit(json.dumps(state))
            waiting = []


def consumers(
    home: Path, mail: MailSettings, stopping: threading.Event
) -> list[tuple[str, Callable[[], None]]]:
    """Give the four groups: the name of each, and what runs it."""
    archive = Archive(home / "archive" / VIEWS)
    return [
        (archive.group, lambda: consume(home, archive, stopping, least=_FILE_ROWS)),
        (LiveCount.group, lambda: consume(home, LiveCount(), stopping)),
        (FailingPages.group, lambda: consume(home, FailingPages(), stopping)),
        (Milestones.group, lambda: consume(home, Milestones(mail), stopping)),
    ]


def archived_rows(home: Path) -> int:
    """Give how many records the archive holds, by the names of its files."""
    found = (home / "archive" / VIEWS).glob("partition=*/*-*.parquet")
    return sum(last - first + 1 for first, last in (_range(file) for file in found))


def _archived(folder: Path) -> dict[int, int]:
    """Give what is to be archived next of each partition."""
    return {
        int(place.name.removeprefix("partition=")): max(
            (_range(file)[1] + 1 for file in place.glob("*-*.parquet")), default=0
        )
        for place in folder.glob("partition=*")
    }


def _range(file: Path) -> tuple[int, int]:
    first, _, last = file.stem.partition("-")
    return int(first), int(last)


def _next_offsets(records: Sequence[Record]) -> dict[TopicPartition, int]:
    return {TopicPartition(VIEWS, record.partition): record.offset + 1 for record in records}


def _table(topic: str, numbers: Mapping[str, int]) -> Rows:
    if not numbers:
        return {}
    pages = list(numbers)
    columns = [pa.array(pages), pa.array(list(numbers.values()), pa.int64())]
    rows = pa.table(columns, schema=TABLES[topic])
    return {topic: rows.append_column("_key", pa.array(pages).cast(pa.binary()))}


def _page(record: Record) -> str:
    return (record.key or b"").decode()


def _is_view(record: Record) -> bool:
    """Whether a record can be read: what is damaged is for the dead letters of the jobs."""
    parts = bytes(record.value or b"").split(b",") if isinstance(record.value, bytes) else []
    return len(parts) == 3 and parts[0].isdigit()  # time, user, page
