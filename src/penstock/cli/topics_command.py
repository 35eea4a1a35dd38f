"""`penstock topics`: create, see, change and remove topics."""

from __future__ import annotations

import sys
from dataclasses import fields
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.counted import counted
from penstock.cli.opened_log import log_exists, opened_log
from penstock.cli.options import JsonOption, TopicArgument
from penstock.cli.output import examples, talk, waiting, write_list
from penstock.cli.topics_describe import describe
from penstock.cli.topics_dump import dump
from penstock.errors import TopicError, UsageError
from penstock.log.topic import TopicConfig
from penstock.text.known import or_not_known
from penstock.text.sizes import size_text
from penstock.text.topic_settings import parse_settings

if TYPE_CHECKING:
    import pyarrow as pa

    from penstock.log.amount import Amount
    from penstock.log.embedded.log import EmbeddedLog
    from penstock.log.topic import Topic

_SETTINGS = ", ".join(item.name for item in fields(TopicConfig))


def register(application: typer.Typer) -> None:
    """Add the commands of this file."""
    group = typer.Typer(no_args_is_help=True)
    group.command(
        "create",
        epilog=examples(
            "penstock topics create avg --partitions 1",
            "penstock topics create orders --partitions 4 --set retention=7d --set fsync=interval",
            "penstock topics create users --set cleanup=compact --if-not-exists",
            'penstock topics create clicks --schema "user bigint not null, page string"',
            "penstock topics create payments --set guard=topic",
        ),
    )(create)
    group.command("list", epilog=examples("penstock topics list", "penstock topics list --json"))(
        list_topics
    )
    group.command(
        "describe",
        epilog=examples(
            "penstock topics describe avg",
            "penstock topics describe avg --segments",
            "penstock topics describe avg --json",
        ),
    )(describe)
    group.command(
        "dump",
        epilog=examples(
            "penstock topics dump avg",
            "penstock topics dump avg --partition 0 --from 1000 --max 10",
            "penstock topics dump avg --frames --all",
        ),
    )(dump)
    group.command(
        "set",
        epilog=examples(
            "penstock topics set avg retention=30d",
            "penstock topics set avg retention=none retention_bytes=10GiB cleanup=delete",
        ),
        help=f"Change settings of a topic.\n\nSettings: {_SETTINGS}.",
    )(change)
    group.command(
        "clean",
        epilog=examples(
            "penstock topics clean avg", "penstock topics clean users --include-active"
        ),
    )(clean)
    group.command(
        "delete", epilog=examples("penstock topics delete avg", "penstock topics delete avg --yes")
    )(delete)
    application.add_typer(
        group,
        name="topics",
        help="Create, see, change and remove topics.",
        epilog=examples(
            "penstock topics create avg --partitions 1",
            "penstock topics list",
            "penstock topics describe avg",
        ),
    )


def create(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The new topic's name.")],
    partitions: Annotated[
        int, typer.Option("--partitions", min=1, help="How many; the number is fixed for ever.")
    ] = 1,
    schema: Annotated[
        str | None,
        typer.Option(
            "--schema",
            metavar="COLUMNS|FILE",
            help='Typed columns such as "id bigint not null, name string", or a .json or .py file'
            " of them. Without it values are bytes.",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A setting, such as retention=7d."),
    ] = None,
    if_not_exists: Annotated[
        bool, typer.Option("--if-not-exists", help="Be content with a topic that is there.")
    ] = False,
) -> None:
    """Create a topic. Its partitions and schema stay; its settings can change."""
    changes = parse_settings(settings or [])
    _refuse_partitions(name, changes)
    config = TopicConfig().with_settings(**changes)
    columns = None
    if schema is not None:
        from penstock.text.schema_text import parse_schema  # noqa: PLC0415  # needs Arrow

        columns = parse_schema(schema)
    with opened_log(context, create=True) as log:
        try:
            log.create_topic(name, partitions=partitions, schema=columns, config=config)
        except TopicError as error:
            if error.code != "TOPIC_EXISTS" or not if_not_exists:
                raise
            _refuse_difference(log.topic(name), partitions, columns)
            talk(f'topic "{name}" exists already; nothing was changed')
        else:
            talk(f'topic "{name}" created with {counted(partitions, "partition")}')


def list_topics(context: typer.Context, json: JsonOption = False) -> None:
    """List all topics."""
    rows: list[dict[str, object]] = []
    if log_exists(context):
        with opened_log(context) as log:
            rows = [_summary(log, log.topic(name)) for name in log.topics()]
    write_list(
        rows,
        as_json=json,
        none_yet="there are no topics yet; create one: penstock topics create NAME",
        cell=or_not_known,
    )


def change(
    context: typer.Context,
    name: TopicArgument,
    settings: Annotated[
        list[str], typer.Argument(metavar="KEY=VALUE...", help="New values; none switches off.")
    ],
) -> None:
    """Change settings of a topic."""
    changes = parse_settings(settings)
    with opened_log(context) as log:
        topic = log.topic(name)
        _refuse_partitions(name, changes)
        log.configure_topic(name, topic.config.with_settings(**changes))
    talk(f'topic "{name}": {counted(len(changes), "setting")} changed')


def clean(
    context: typer.Context,
    name: TopicArgument,
    include_active: Annotated[
        bool,
        typer.Option("--include-active", help="Begin a new segment, so that all can be cleaned."),
    ] = False,
) -> None:
    """Apply retention and compaction now."""
    with opened_log(context) as log:
        before = _stored(log, name).records or 0
        with waiting(f"cleaning {name}"):
            reports = log.clean(name, include_active=include_active)
        after = _stored(log, name).records or 0
    freed = sum(report.bytes_before - report.bytes_after for report in reports)
    removed = counted(max(before - after, 0), "record")
    talk(f'topic "{name}": {removed} removed, {size_text(max(freed, 0))} freed')
    busy = [str(report.partition) for report in reports if report.busy]
    if busy:
        talk(f"another process is cleaning {', '.join(busy)}")


def delete(
    context: typer.Context,
    name: TopicArgument,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete a topic and all its records."""
    with opened_log(context) as log:
        records = _stored(log, name).records
        if not yes:
            held = "its records" if records is None else counted(records, "record")
            _confirm(f'Delete topic "{name}" with {held}?')
        log.delete_topic(name)
    talk(f'topic "{name}" deleted')


def _confirm(question: str) -> None:
    if not sys.stdin.isatty():
        raise UsageError(
            "CONFIRMATION_NEEDED",
            "nobody can be asked whether to delete, since stdin is not a terminal",
            hint="Add --yes to delete without a question.",
        )
    if not typer.confirm(question, err=True):
        talk("nothing was deleted")
        raise typer.Exit(1)


def _summary(log: EmbeddedLog, topic: Topic) -> dict[str, object]:
    return {
        "topic": topic.name,
        "partitions": topic.partitions,
        "records": _stored(log, topic.name).records,
        "cleanup": topic.config.cleanup,
        "values": "bytes" if topic.schema is None else "columns",
    }


def _stored(log: EmbeddedLog, name: str) -> Amount:
    """How much the topic has on disk."""
    from penstock.log.amount import amount_of  # noqa: PLC0415  # Arrow

    return amount_of(
        segment
        for number in range(log.topic(name).partitions)
        for segment in log.segments(name, number)
    )


def _refuse_partitions(name: str, changes: dict[str, object]) -> None:
    if "partitions" in changes:
        raise TopicError(
            "PARTITIONS_FIXED",
            f'the number of partitions of topic "{name}" is fixed at creation',
            hint=f"Create another topic with --partitions {changes['partitions']} and copy the"
            f" records: penstock consume {name} --no-wait --json | penstock produce OTHER --json",
        )


def _refuse_difference(topic: Topic, partitions: int, schema: pa.Schema | None) -> None:
    if topic.partitions != partitions:
        what = f"{counted(topic.partitions, 'partition')}, not {partitions}"
    elif topic.schema != schema:
        what = "no schema" if topic.schema is None else "another schema"
    else:
        return
    raise TopicError(
        "TOPIC_DIFFERS",
        f'topic "{topic.name}" exists with {what}',
        hint="Ask for what is there, choose another name, or delete the topic first.",
    )
