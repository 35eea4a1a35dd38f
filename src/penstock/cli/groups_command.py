"""`penstock groups`: who reads, how far they are, and how to set them back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated
from urllib.parse import unquote

import typer

from penstock.cli.opened_log import log_exists, opened_log
from penstock.cli.options import JsonOption, complete_topic, settings_of
from penstock.cli.output import examples, talk, write_json, write_line, write_list, write_table
from penstock.cli.place import parse_place
from penstock.cli.times import time_text
from penstock.errors import OffsetError, PenstockError

if TYPE_CHECKING:
    from penstock.log.embedded.log import EmbeddedLog
    from penstock.log.port import GroupInfo
    from penstock.log.position import Start
    from penstock.log.record import TopicPartition

_NOTHING = "-"


def complete_group(ctx: typer.Context, incomplete: str) -> list[str]:
    """Complete a group's name from the directories of the log, without opening it."""
    try:
        groups = settings_of(ctx).log_directory / "groups"
        names = sorted(unquote(entry.name) for entry in groups.iterdir())
    except (OSError, PenstockError):
        # There is nobody to tell during completion; the command itself will say what is wrong.
        return []
    return [name for name in names if name.startswith(incomplete)]


GroupArgument = Annotated[
    str, typer.Argument(metavar="GROUP", help="A group's name.", autocompletion=complete_group)
]


def register(application: typer.Typer) -> None:
    """Add the commands of this file."""
    group = typer.Typer(no_args_is_help=True)
    group.command("list", epilog=examples("penstock groups list", "penstock groups list --json"))(
        list_groups
    )
    group.command(
        "describe",
        epilog=examples(
            "penstock groups describe reports", "penstock groups describe reports --json"
        ),
    )(describe)
    group.command(
        "reset",
        epilog=examples(
            "penstock groups reset reports --topic avg --to earliest --dry-run",
            "penstock groups reset reports --topic avg --to 2026-01-31T12:00:00Z",
            "penstock groups reset reports --topic avg --partition 0 --to 42",
        ),
    )(reset)
    group.command("delete", epilog=examples("penstock groups delete reports"))(delete)
    application.add_typer(
        group,
        name="groups",
        help="See consumer groups and their lag, and set them back.",
        epilog=examples("penstock groups list", "penstock groups describe reports"),
    )


def list_groups(context: typer.Context, json: JsonOption = False) -> None:
    """List all groups, with how many records each is behind."""
    rows: list[dict[str, object]] = []
    if log_exists(context):
        with opened_log(context) as log:
            rows = [_summary(log, log.group(name)) for name in log.groups()]
    write_list(
        rows,
        as_json=json,
        none_yet="there are no groups yet; one begins with: penstock consume TOPIC --group NAME",
        cell=_cell,
    )


def describe(context: typer.Context, name: GroupArgument, json: JsonOption = False) -> None:
    """Show the members, the partitions they read, and how far they are behind."""
    with opened_log(context) as log:
        group = log.group(name)
        partitions = _partitions(log, group)
    if json:
        members = [
            member._asdict()
            | {"assigned": [list(place) for place in member.assigned]}
            | {"owned": [list(place) for place in member.owned]}
            for member in group.members
        ]
        document = group._asdict() | {"members": members, "partitions": partitions}
        del document["committed"]
        write_json(document)
        return
    write_line(
        f"group {name}, generation {group.generation}, assignor {group.assignor or _NOTHING}"
    )
    write_line("")
    _write_members(group)
    write_line("")
    columns = ("topic", "partition", "committed", "end", "lag", "member")
    write_table(columns, [[_cell(row[name]) for name in columns] for row in partitions])


def reset(  # noqa: PLR0913  # each parameter is an option
    context: typer.Context,
    name: GroupArgument,
    *,
    topic: Annotated[
        str,
        typer.Option(
            "--topic", metavar="TOPIC", help="Whose offsets to set.", autocompletion=complete_topic
        ),
    ],
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="OFFSET|TIME|earliest|latest",
            help="What the group is to read next: an offset, the first record at or after a time"
            " (ISO 8601), the first record of all, or what comes after the last.",
        ),
    ],
    partition: Annotated[
        int | None, typer.Option("--partition", min=0, help="Only this one.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would change, and change nothing.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Set what a group reads next. Its members must have stopped."""
    place = parse_place(to)
    with opened_log(context) as log:
        before = log.group(name).committed
        after = _targets(log, topic, partition, place)
        if not dry_run:
            log.commit(name, after)
    rows = [
        {"topic": topic, "partition": item.partition, "before": before.get(item), "after": offset}
        for item, offset in after.items()
    ]
    if json:
        write_json(rows)
    else:
        write_table(list(rows[0]), [[_cell(cell) for cell in row.values()] for row in rows])
    if dry_run:
        talk("nothing was changed; leave --dry-run out to do it")


def delete(context: typer.Context, name: GroupArgument) -> None:
    """Delete a group and its offsets. Its members must have stopped."""
    with opened_log(context) as log:
        log.delete_group(name)
    talk(f'group "{name}" deleted')


def _targets(
    log: EmbeddedLog, topic: str, partition: int | None, place: Start
) -> dict[TopicPartition, int]:
    from penstock.log.position import start_offset  # noqa: PLC0415  # with the log
    from penstock.log.record import TopicPartition  # noqa: PLC0415

    numbers = range(log.topic(topic).partitions) if partition is None else [partition]
    targets = {}
    for number in numbers:
        item = TopicPartition(topic, number)
        bounds = log.bounds(*item)
        offset = start_offset(log, item, place)
        if not bounds.start <= offset <= bounds.end:
            raise OffsetError(
                "OFFSET_RANGE",
                f'offset {offset} of partition "{item}" is outside {bounds.start} to {bounds.end}',
                hint="Choose one within, or earliest or latest; --partition sets one partition.",
            )
        targets[item] = offset
    return targets


def _summary(log: EmbeddedLog, group: GroupInfo) -> dict[str, object]:
    partitions = _partitions(log, group)
    lags = [row["lag"] for row in partitions if isinstance(row["lag"], int)]
    topics = sorted({str(row["topic"]) for row in partitions})
    return {
        "group": group.name,
        "members": len(group.members),
        "topics": topics,
        "lag": sum(lags) if lags else None,
    }


def _partitions(log: EmbeddedLog, group: GroupInfo) -> list[dict[str, object]]:
    """One row for each partition that is read or has an offset."""
    from penstock.log.record import TopicPartition  # noqa: PLC0415  # with the log

    existing = log.topics()
    owners = {place: member.member_id for member in group.members for place in member.assigned}
    subscribed = {topic for member in group.members for topic in member.topics}
    places = {*group.committed, *owners} | {
        TopicPartition(topic, number)
        for topic in subscribed
        if topic in existing
        for number in range(log.topic(topic).partitions)
    }
    rows: list[dict[str, object]] = []
    for place in sorted(places):
        committed = group.committed.get(place)
        end = log.bounds(*place).end if place.topic in existing else None
        known = committed is not None and end is not None
        rows.append(
            {
                "topic": place.topic,
                "partition": place.partition,
                "committed": committed,
                "end": end,
                "lag": max(end - committed, 0) if known else None,  # type: ignore[operator]
                "member": owners.get(place),
            }
        )
    return rows


def _write_members(group: GroupInfo) -> None:
    if not group.members:
        write_line("no members")
        return
    rows = [
        (
            member.member_id,
            ",".join(map(str, member.assigned)) or _NOTHING,
            time_text(member.heartbeat_at),
        )
        for member in group.members
    ]
    write_table(("member", "partitions", "last heartbeat"), rows)


def _cell(value: object) -> str:
    if isinstance(value, list):
        return ",".join(value) or _NOTHING
    return _NOTHING if value is None else str(value)
