"""A dead letter as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from penstock.cli.record_text import headers_text
from penstock.text.byte_text import line_text
from penstock.text.times import time_text

if TYPE_CHECKING:
    from penstock.jobs.dead_letters import Letter

_A_LINE = 16


def letter_lines(topic: str, letter: Letter) -> Iterator[str]:
    """Say a letter in lines: where it is, what happened, and the record or the row."""
    replayed = ", replayed" if letter.replayed else ""
    yield f"{topic}-{letter.partition} offset {letter.offset}{replayed}"
    yield f"  error      {letter.error}"
    yield f"  step       {letter.step}{f'  ({letter.site})' if letter.site else ''}"
    source = letter.source
    if source.offset is not None:
        yield f"  record     {source.topic}-{source.partition} offset {source.offset}"
    if letter.timestamp is not None:
        yield f"  timestamp  {time_text(letter.timestamp)}"
    if letter.key is not None:
        yield f"  key        {line_text(letter.key)}"
    if letter.headers:
        yield f"  headers    {headers_text(letter.headers)}"
    if letter.row is not None:
        yield f"  row        {letter.row}"
    if letter.raw is not None:
        yield f"  value      {len(letter.raw)} bytes: {line_text(letter.raw)}"
        yield from _hexadecimal(letter.raw)
    for line in (letter.traceback or "").splitlines():
        yield f"  | {line}"


def _hexadecimal(data: bytes) -> Iterator[str]:
    """Show bytes that are no text as numbers, sixteen a line."""
    if data.isascii() and data.decode().isprintable():
        return
    for start in range(0, len(data), _A_LINE):
        yield f"    {start:06x}  {data[start : start + _A_LINE].hex(' ')}"
