"""Lines of input as records to send."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import RecordError, UsageError
from penstock.text.byte_text import bytes_of_json
from penstock.text.times import parse_timestamp

if TYPE_CHECKING:
    from penstock.log.record import Headers, Value
    from penstock.log.topic import Topic

_MEMBERS = {"topic", "partition", "offset", "timestamp", "key", "value", "headers"}


class Outgoing(NamedTuple):
    """A record as a line gives it."""

    value: Value
    key: bytes | None = None
    timestamp: int | None = None
    headers: Headers = ()


LineReader = Callable[[bytes], Outgoing]


class LineForm(NamedTuple):
    """How a line is to be read."""

    key_separator: str | None = None
    tombstone: str | None = None
    is_whole_record: bool = False


def line_reader(topic: Topic, form: LineForm) -> LineReader:
    """Choose how lines become records of a topic; the reader raises ValueError with the fact."""
    read_value = _value_reader(topic)
    if form.is_whole_record:
        if form.key_separator is not None or form.tombstone is not None:
            raise UsageError(
                "OPTIONS_CONFLICT",
                "--json lines carry their key and their tombstones themselves",
                hint="Leave --key-separator and --tombstone out.",
            )
        return lambda line: _whole_record(line, topic)
    separator = None if form.key_separator is None else form.key_separator.encode()
    tombstone = None if form.tombstone is None else form.tombstone.encode()

    def read(line: bytes) -> Outgoing:
        key, rest = (None, line) if separator is None else _split(line, separator)
        return Outgoing(None if rest == tombstone else read_value(rest), key)

    return read


def refuse_line(number: int, error: Exception) -> RecordError:
    """The error for a line that is no record."""
    return RecordError(
        "LINE_FORMAT",
        f"line {number} {error}",
        hint="Correct the line and send it and those after it again.",
    )


def parse_headers(words: list[str]) -> Headers:
    """Read header words such as `source=web`."""
    headers = []
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise UsageError(
                "HEADER_FORMAT",
                f'header "{word}" is not of the form name=value',
                hint="Write it as --header source=web.",
            )
        headers.append((name, value.encode()))
    return tuple(headers)


def _split(line: bytes, separator: bytes) -> tuple[bytes, bytes]:
    key, found, value = line.partition(separator)
    if not found:
        message = f'has no key separator "{separator.decode()}"'
        raise ValueError(message)
    return key, value


def _value_reader(topic: Topic) -> Callable[[bytes], Value]:
    if topic.schema is None:
        return bytes
    from penstock.text.json_row import parse_row  # noqa: PLC0415  # needs Arrow

    return lambda line: parse_row(_parse_object(line), topic.schema)


def _parse_object(line: bytes) -> dict[str, object]:
    try:
        document = json.loads(line)
    except ValueError as error:
        message = f"is not JSON: {error}"
        raise ValueError(message) from None
    if not isinstance(document, dict):
        message = "is not a JSON object"
        raise ValueError(message)  # noqa: TRY004  # the caller codes every ValueError
    return document


def _whole_record(line: bytes, topic: Topic) -> Outgoing:
    document = _parse_object(line)
    strange = document.keys() - _MEMBERS
    if strange or "value" not in document:
        what = f'has the member "{min(strange)}"' if strange else 'has no member "value"'
        message = f"{what}; a record has {', '.join(sorted(_MEMBERS))}"
        raise ValueError(message)
    return Outgoing(
        _json_value(document["value"], topic),
        _json_bytes(document.get("key"), "key"),
        _json_timestamp(document.get("timestamp")),
        _json_headers(document.get("headers") or []),
    )


def _json_value(value: object, topic: Topic) -> Value:
    if topic.schema is None or value is None:
        return _json_bytes(value, "value")
    from penstock.text.json_row import parse_row  # noqa: PLC0415  # needs Arrow

    if not isinstance(value, dict):
        message = "has a value that is not an object of columns"
        raise ValueError(message)  # noqa: TRY004  # the caller codes every ValueError
    return parse_row(value, topic.schema)


def _json_bytes(value: object, member: str) -> bytes | None:
    try:
        return bytes_of_json(value)
    except ValueError:
        message = f'has a {member} that is neither a string nor {{"base64": ...}}'
        raise ValueError(message) from None


def _json_timestamp(value: object) -> int | None:
    try:
        return None if value is None else parse_timestamp(str(value))
    except UsageError:
        message = f"has the timestamp {value!r}, which is neither milliseconds nor ISO 8601"
        raise ValueError(message) from None


def _json_headers(headers: object) -> Headers:
    try:
        return tuple((str(name), _json_bytes(value, "header")) for name, value in headers)  # type: ignore[attr-defined]  # checked by trying
    except TypeError:
        message = "has headers that are not a list of [name, value]"
        raise ValueError(message) from None
