"""`penstock topics describe`: partitions, segments, settings and schema of a topic."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.opened_log import opened_log
from penstock.cli.options import JsonOption, TopicArgument, settings_of
from penstock.cli.output import talk, write_json, write_line, write_table
from penstock.log.topic import TopicConfig
from penstock.text.known import NOT_KNOWN, or_not_known
from penstock.text.sizes import size_text
from penstock.text.times import time_text
from penstock.text.topic_settings import setting_json, setting_text

if TYPE_CHECKING:
    from penstock.log.amount import Amount
    from penstock.log.embedded.log import EmbeddedLog
    from penstock.log.port import SegmentInfo
    from penstock.log.topic import Topic

_NO_TIME = "-"


def describe(
    context: typer.Context,
    name: TopicArgument,
    segments: Annotated[bool, typer.Option("--segments", help="Show every segment.")] = False,
    json: JsonOption = False,
) -> None:
    """Show the partitions, the settings and the schema of a topic."""
    with opened_log(context) as log:
        topic = log.topic(name)
        partitions = [_partition(log, name, number) for number in range(topic.partitions)]
        parts = [log.segments(name, number) for number in range(topic.partitions)]
    formats = _formats(context, name)
    if json:
        write_json(_document(topic, partitions, parts) | {"formats": formats})
        return
    made = time_text(topic.created_at) if topic.created_at else NOT_KNOWN
    write_line(f"topic {name}, created {made}, id {topic.topic_id}")
    write_line("")
    _write_partitions(partitions, parts)
    if segments and any(parts):
        write_line("")
        _write_segments(parts)
    write_line("")
    _write_settings(topic.config)
    if topic.schema is not None:
        from penstock.text.schema_text import schema_document  # noqa: PLC0415  # needs Arrow

        write_line("")
        columns = [column.values() for column in schema_document(topic.schema)]
        write_table(("column", "type", "nullable"), [_plain(*column) for column in columns])
    if formats:
        write_line("")
        write_table(("part", "format"), list(formats.items()))
    for number, part in enumerate(partitions):
        if part["log_end"] != part["end"]:
            talk(
                f"partition {number}: offsets {part['end']} to {part['log_end'] - 1} belong to an"
                " open transaction, or come after one, and cannot be read yet"
            )


def _formats(context: typer.Context, name: str) -> dict[str, str]:
    """Give the formats that configuration binds the keys and values of a topic to."""
    settings = settings_of(context)
    if not settings.topics and not settings.serdes:
        return {}
    from penstock.schema.binding import bindings_of  # noqa: PLC0415  # needs Arrow

    bound = bindings_of(settings.serdes, settings.topics).get(name)
    parts = {} if bound is None else {"key": bound.key, "value": bound.value}
    return {part: str(found) for part, found in parts.items() if found is not None}


def _partition(log: EmbeddedLog, name: str, number: int) -> dict[str, int]:
    readable = log.bounds(name, number)
    return {
        "partition": number,
        "start": readable.start,
        "end": readable.end,
        "log_end": log.bounds(name, number, "uncommitted").end,
    }


def _document(
    topic: Topic, partitions: list[dict[str, int]], parts: list[list[SegmentInfo]]
) -> dict[str, object]:
    from penstock.text.schema_text import schema_document  # noqa: PLC0415  # needs Arrow

    return {
        "topic": topic.name,
        "id": topic.topic_id,
        "created_at": topic.created_at or None,
        "partitions": [
            part | {"segments": [segment._asdict() for segment in segments]}
            for part, segments in zip(partitions, parts, strict=True)
        ],
        "settings": {name: setting_json(value) for name, value in asdict(topic.config).items()},
        "schema": None if topic.schema is None else schema_document(topic.schema),
    }


def _write_partitions(partitions: list[dict[str, int]], parts: list[list[SegmentInfo]]) -> None:
    from penstock.log.amount import amount_of  # noqa: PLC0415  # Arrow

    rows = [
        (part["partition"], part["start"], part["end"], *_amount_cells(amount_of(segments)))
        for part, segments in zip(partitions, parts, strict=True)
    ]
    columns = ("partition", "start", "end", "records", "size", "segments", "oldest", "newest")
    write_table(columns, rows)


def _amount_cells(amount: Amount) -> tuple[str, ...]:
    no_time = NOT_KNOWN if amount.records is None else _NO_TIME
    return (
        or_not_known(amount.records),
        or_not_known(amount.size, size_text),
        or_not_known(amount.segments),
        no_time if amount.oldest is None else _second(amount.oldest),
        no_time if amount.newest is None else _second(amount.newest),
    )


def _write_segments(parts: list[list[SegmentInfo]]) -> None:
    rows = [
        (
            f"{item.file} *" if item.active else item.file,
            item.base_offset,
            item.next_offset,
            item.records,
            size_text(item.size),
            _second(item.min_timestamp) if item.records else _NO_TIME,
            _second(item.max_timestamp) if item.records else _NO_TIME,
        )
        for segments in parts
        for item in segments
    ]
    columns = ("segment (* active)", "first", "next", "records", "size", "oldest", "newest")
    write_table(columns, rows)


def _write_settings(config: TopicConfig) -> None:
    defaults = asdict(TopicConfig())
    rows = [
        (name, setting_text(value), "default" if value == defaults[name] else "set")
        for name, value in asdict(config).items()
    ]
    write_table(("setting", "value", "origin"), rows)


def _plain(name: object, kind: object, nullable: object) -> tuple[object, object, str]:
    return name, kind, "yes" if nullable else "no"


def _second(timestamp: int) -> str:
    return time_text(timestamp, timespec="seconds")
