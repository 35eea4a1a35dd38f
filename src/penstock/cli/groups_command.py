"""`penstock groups`: who reads, how far they are, and how to set them back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated
from urllib.parse import unquote

import typer

from penstock.cli.opened_log import log_exists, opened_log
from penstock.cli.options import JsonOption, complete_topic, settings_of
from penstock.cli.output import examples, talk, write_json, write_line, write_list, write_table
from penstock.errors import PenstockError
from penstock.text.known import or_not_known
from penstock.text.place import parse_place
from penstock.text.times import time_text

if TYPE_CHECKING:
    from penstock.log.port import GroupInfo

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
            from penstock.log.group_report import group_summary  # noqa: PLC0415  # Arrow

            rows = [group_summary(log, log.group(name)) for name in log.groups()]
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
        from penstock.log.group_report import group_partitions  # noqa: PLC0415  # Arrow

        partitions = group_partitions(log, group)
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
        f"group {name}, generation {or_not_known(group.generation)},"
        f" assignor {group.assignor or _NOTHING}"
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
    from penstock.log.group_report import group_targets  # noqa: PLC0415  # Arrow

    place = parse_place(to)
    with opened_log(context) as log:
        before = log.group(name).committed
        after = group_targets(log, topic, partition, place)
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


def _write_members(group: GroupInfo) -> None:
    if not group.members:
        write_line("no members")
        return
    rows = [
        (
            member.member_id,
            ",".join(map(str, member.assigned)) or _NOTHING,
            or_not_known(member.heartbeat_at, time_text),
        )
        for member in group.members
    ]
    write_table(("member", "partitions", "last heartbeat"), rows)


def _cell(value: object) -> str:
    if isinstance(value, list):
        return ",".join(value) or _NOTHING
    return _NOTHING if value is None else str(value)
