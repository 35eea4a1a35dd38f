"""Two declarations of what is read: what differs, and what that takes."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.model.source import Stream
from penstock.model.start import start_words
from penstock.plan.finding import Finding
from penstock.plan.token import token
from penstock.plan.user_code import by_bytecode
from penstock.schema.types import INT32, INT64

_MEANING = (
    ("event_time", "the column of its time"),
    ("times", "when its rows happened"),
    ("changelog", "whether its rows may be taken back"),
    ("files", "the files it is read from"),
    ("key", "its key"),
    ("format", "the format of its values"),
    ("key_format", "the format of its keys"),
)
_FROM_NOW = (
    ("watermark", "how late its rows may come"),
    ("on_error", "what becomes of values that cannot be read"),
)


def compare_streams(before: Stream, after: Stream, part: str) -> Iterator[Finding]:
    """Compare a stream with the one that was read so far."""
    if before.topic != after.topic:
        reason = f'it reads topic "{after.topic}", and read "{before.topic}"'
        yield Finding(part, "rebuild", reason)
        return
    for name, words in _MEANING:
        if _differs(before, after, name):
            yield Finding(part, "rebuild", f'{words} of topic "{after.topic}" is another')
    for name, words in _FROM_NOW:
        if _differs(before, after, name):
            reason = f'{words} in topic "{after.topic}" is another from now on'
            yield Finding(part, "compatible", reason)
    if (before.start.place, before.start.value) != (after.start.place, after.start.value):
        reason = (
            f'topic "{after.topic}" would be read from {start_words(after.start)}, which counts'
            " for a first start only"
        )
        yield Finding(part, "compatible", reason)
    yield from _columns(before, after, part)


def _columns(before: Stream, after: Stream, part: str) -> Iterator[Finding]:
    known = {field.name: field.type for field in before.columns.fields}
    for field in after.columns.fields:
        old = known.get(field.name, field.type)
        if old == field.type:
            continue
        wider = (old, field.type) == (INT32, INT64)
        reason = f'column "{field.name}" of topic "{after.topic}" is {field.type}, and was {old}'
        yield Finding(part, "migrate" if wider else "rebuild", reason)


def _differs(before: Stream, after: Stream, name: str) -> bool:
    one, other = getattr(before, name), getattr(after, name)
    return token(one, by_bytecode) != token(other, by_bytecode)
