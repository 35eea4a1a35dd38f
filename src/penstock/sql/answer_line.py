"""Answers as lines of JSON, for those who ask from another process."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, assert_never

from penstock.errors import PenstockError
from penstock.log.record import TopicPartition
from penstock.log.remote.failure import decode_failure, encode_failure
from penstock.sql.answer import Answer, Cells, Followed, Listed, Told
from penstock.sql.plain_value import plain

IDLE = b"\n"
"""Says that there is nothing for the moment, and that the server lives."""


def lines_of(answer: Answer) -> Iterator[bytes]:
    """Write an answer; rows that come by and by are lines of their own."""
    match answer:
        case Told(words, notes):
            yield line(told=words, notes=notes)
        case Listed(columns, rows, offsets):
            yield line(columns=columns, rows=plain(rows), offsets=_named(offsets))
        case Followed(columns, rows, keys):
            yield line(follows=columns, keys=keys)
            for row in rows:
                yield IDLE if row is None else line(row=plain(row), offsets=_named(answer.offsets))
            yield line(ended=True)
        case _:
            assert_never(answer)


def refusal_line(error: PenstockError) -> bytes:
    """Write why a statement was refused."""
    return line(error=encode_failure(error))


def line(**parts: object) -> bytes:
    """Write a document as one line."""
    return json.dumps(parts, ensure_ascii=False).encode() + b"\n"


def answers_of(lines: Iterator[bytes], told: dict[str, Any]) -> Iterator[Answer]:
    """Read answers; what is said of the session itself goes to `told`, a refusal is raised."""
    for text in lines:
        if not text.strip():
            continue
        found: dict[str, Any] = json.loads(text)
        if "error" in found:
            raise decode_failure(found["error"])
        if "told" in found:
            yield Told(found["told"], tuple(found["notes"]))
        elif "rows" in found:
            rows = tuple(tuple(row) for row in found["rows"])
            yield Listed(tuple(found["columns"]), rows, _offsets(found["offsets"]))
        elif "follows" in found:
            offsets: dict[TopicPartition, int] = {}
            followed = _rows(lines, offsets)
            yield Followed(tuple(found["follows"]), followed, tuple(found["keys"]), offsets)
            for _ in followed:
                # What nobody asked for is read over, up to the next answer.
                pass
        else:
            told.update(found)


def _rows(lines: Iterator[bytes], offsets: dict[TopicPartition, int]) -> Iterator[Cells | None]:
    for text in lines:
        if not text.strip():
            yield None
            continue
        found: dict[str, Any] = json.loads(text)
        if "error" in found:
            raise decode_failure(found["error"])
        if "row" not in found:
            return
        offsets.update(_offsets(found["offsets"]))
        yield tuple(found["row"])


def _named(offsets: Mapping[TopicPartition, int]) -> dict[str, int]:
    return {str(at): offset for at, offset in offsets.items()}


def _offsets(named: Mapping[str, int]) -> dict[TopicPartition, int]:
    found = {}
    for name, offset in named.items():
        topic, _, partition = name.rpartition("-")
        found[TopicPartition(topic, int(partition))] = offset
    return found
