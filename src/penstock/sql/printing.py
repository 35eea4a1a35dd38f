"""PRINT: the records of a topic as they are."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.front.sql.rows import KEY, OFFSET, PARTITION, TIMESTAMP, VALUE
from penstock.front.sql.tree_statement import Print
from penstock.log.port import Log
from penstock.log.record import TopicPartition
from penstock.sql.answer import Cells, Followed
from penstock.sql.records import read_records, require_topic

_COLUMNS = ("time", "partition", "offset", "key", "value")
_PATIENCE = 0.1


def printed(statement: Print, log: Log) -> Followed:
    """Give the records of a topic as they come; every so many-th where an interval is given."""
    require_topic(log, statement.topic)
    bounds = log.snapshot([statement.topic])
    offsets = {
        TopicPartition(*at): bound.start if statement.from_beginning else bound.end
        for at, bound in bounds.items()
    }
    rows = _rows(log, offsets, max(statement.interval or 1, 1))
    return Followed(_COLUMNS, rows if statement.limit is None else _first(rows, statement.limit))


def _rows(log: Log, offsets: dict[TopicPartition, int], interval: int) -> Iterator[Cells | None]:
    count = 0
    while True:
        for at, bound in log.snapshot({at.topic for at in offsets}).items():
            place = TopicPartition(*at)
            for record in read_records(log, place, offsets[place], bound.end):
                if count % interval == 0:
                    key, value = _text(record[KEY]), _text(record[VALUE])
                    yield record[TIMESTAMP], record[PARTITION], record[OFFSET], key, value
                count += 1
            offsets[place] = max(offsets[place], bound.end)
        yield None
        log.wait(offsets, _PATIENCE)


def _first(rows: Iterator[Cells | None], limit: int) -> Iterator[Cells | None]:
    left = limit
    for row in rows if limit else ():
        yield row
        left -= row is not None
        if not left:
            return


def _text(content: bytes | None) -> str | None:
    """Give bytes as text where they are one, else in hexadecimal digits."""
    if content is None:
        return None
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return f"0x{content.hex()}"
    return text if text.isprintable() else f"0x{content.hex()}"
