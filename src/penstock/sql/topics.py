"""The topics of sources: there, or made as a statement says."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable

from penstock.errors import SqlError, TopicError
from penstock.front.sql.source import SqlSource
from penstock.front.sql.statement import Started
from penstock.front.sql.tree_statement import CreateSource
from penstock.front.sql.typed_format import is_typed
from penstock.front.sql.typed_sink import topic_columns
from penstock.log.port import Log
from penstock.log.rows import value_schema
from penstock.log.topic import Topic, TopicConfig

MOST_PARTITIONS = 10_000


def ensure_source_topic(log: Log, source: SqlSource, statement: CreateSource) -> None:
    """Make the topic of a source where PARTITIONS says how; else it must be there."""
    if source.topic in log.topics():
        problem = _misfit(log, source)
        if problem:
            fact = f'topic "{source.topic}" {problem}'
            raise SqlError(
                "SQL_TOPIC",
                statement.source.shown(fact, statement.name.span),
                hint="Name another topic, or leave out what it contradicts.",
            )
        return
    if source.partitions is None:
        fact = f'topic "{source.topic}" does not exist'
        raise SqlError(
            "SQL_TOPIC_MISSING",
            statement.source.shown(fact, statement.name.span),
            hint="Add PARTITIONS=1 to WITH (...) to have it made, or use `penstock topics create`.",
        )
    _create(log, source, source.partitions)


def ensure_side_topics(log: Log, reads: Iterable[SqlSource]) -> None:
    """Make the topics of late rows and dead letters that are read before there are any."""
    missing = [source for source in reads if source.side and source.topic not in log.topics()]
    if not missing:
        return
    from penstock.kernel.letter import LATE_COLUMNS  # noqa: PLC0415  # polars
    from penstock.spark.outlet import LETTERS, plain_columns  # noqa: PLC0415  # polars

    for source in missing:
        columns = plain_columns(LATE_COLUMNS) if source.side == "late" else LETTERS
        log.create_topic(source.topic, partitions=1, schema=columns)


def ensure_result_topic(log: Log, started: Started) -> None:
    """Make the topic that a query writes to, as its statement says or as what it reads is."""
    source = started.writes
    ensure_side_topics(log, started.reads)
    if source.topic in log.topics():
        if is_typed(source):
            _require_columns(log, source)
        elif log.topic(source.topic).schema is not None:
            raise SqlError(
                "SQL_TOPIC",
                f'topic "{source.topic}" has columns of its own, and a query writes bytes',
                hint="Name another with WITH (KAFKA_TOPIC='...').",
            )
        return
    first = log.topic(started.reads[0].topic).partitions if started.reads else 1
    _create(log, source, source.partitions or first)


def drop_topic(log: Log, topic: str) -> None:
    """Delete a topic, if it is there."""
    with contextlib.suppress(TopicError):
        log.delete_topic(topic)


def _create(log: Log, source: SqlSource, partitions: int) -> None:
    if partitions > MOST_PARTITIONS:
        raise SqlError(
            "SQL_TOPIC",
            f'topic "{source.topic}" would have {partitions} partitions',
            hint=f"Give at most {MOST_PARTITIONS}: each is a directory of its own.",
        )
    latest = source.is_table and source.window is None
    config = TopicConfig(cleanup="compact") if latest else None
    if source.retention is not None and not latest:
        config = TopicConfig(retention=source.retention)
    schema = None
    if is_typed(source):
        from penstock.schema.arrow import to_arrow  # noqa: PLC0415  # Arrow

        schema = to_arrow(topic_columns(source))
    log.create_topic(source.topic, partitions=partitions, config=config, schema=schema)


def _require_columns(log: Log, source: SqlSource) -> None:
    """Refuse a topic that has not the columns of a typed source."""
    problem = _misfit(log, source)
    if problem:
        raise SqlError(
            "SQL_TOPIC",
            f'topic "{source.topic}" {problem}',
            hint="Name another with WITH (KAFKA_TOPIC='...').",
        )


def _misfit(log: Log, source: SqlSource) -> str:
    topic = log.topic(source.topic)
    if is_typed(source):
        problem = _columns_problem(topic, source)
        if problem:
            return problem
    elif topic.schema is not None:
        return "has columns of its own: FORMAT='TYPED' reads them"
    if source.partitions not in {None, topic.partitions}:
        return f"has {topic.partitions} partitions, not {source.partitions}"
    return ""


def _columns_problem(topic: Topic, source: SqlSource) -> str:
    if topic.schema is None:
        return "holds bytes, and TYPED is for topics with columns"
    from penstock.schema.arrow import from_arrow  # noqa: PLC0415  # Arrow

    known = from_arrow(value_schema(topic))
    for field in topic_columns(source).fields:
        held = known.field(field.name).type if field.name in known.names else None
        if held != field.type:
            has = "not there" if held is None else f"another type, {held}"
            return f'has columns of its own, and "{field.name}" of "{source.name}" is {has}'
    return ""
