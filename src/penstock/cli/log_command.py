"""`penstock log`: where the log is, whether it is whole, and how to mend it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.counted import counted
from penstock.cli.log_nodes import list_nodes, serve
from penstock.cli.opened_log import opened_log
from penstock.cli.options import JsonOption, complete_topic, settings_of
from penstock.cli.output import examples, talk, waiting, write_json, write_line, write_table
from penstock.text.sizes import size_text
from penstock.text.times import time_text

if TYPE_CHECKING:
    from penstock.log.embedded.log import EmbeddedLog

_DAMAGED = 1

CheckedTopic = Annotated[
    str | None,
    typer.Argument(metavar="TOPIC", help="Only this topic.", autocompletion=complete_topic),
]


def register(application: typer.Typer) -> None:
    """Add the commands of this file."""
    group = typer.Typer(no_args_is_help=True)
    group.command("info", epilog=examples("penstock log info", "penstock log info --json"))(info)
    group.command(
        "verify",
        epilog=examples(
            "penstock log verify", "penstock log verify avg", "penstock log verify --json"
        ),
    )(verify)
    group.command(
        "repair", epilog=examples("penstock log repair", "penstock log repair avg --cut-corrupt")
    )(repair)
    group.command("serve", epilog=examples("penstock log serve", "penstock log serve --port 9292"))(
        serve
    )
    group.command("nodes", epilog=examples("penstock log nodes", "penstock log nodes --json"))(
        list_nodes
    )
    application.add_typer(
        group,
        name="log",
        help="See where the log is, check that it is whole, mend it.",
        epilog=examples("penstock log info", "penstock log verify"),
    )


def info(context: typer.Context, json: JsonOption = False) -> None:
    """Show where the log is, how large it is and what is in it."""
    with opened_log(context) as log:
        facts = _facts(log, settings_of(context).log_directory)
    if json:
        write_json(facts)
        return
    shown = facts | {
        "size": size_text(facts["size"]),  # type: ignore[arg-type]  # made below
        "created_at": time_text(facts["created_at"]),  # type: ignore[arg-type]
    }
    width = max(map(len, shown)) + 2
    for name, value in shown.items():
        write_line(f"{name.replace('_', ' '):<{width}}{value}")


def verify(
    context: typer.Context,
    topic: CheckedTopic = None,
    json: JsonOption = False,
) -> None:
    """Read everything and check every checksum. Fails where something is damaged."""
    with opened_log(context) as log:
        with waiting(f"reading {topic or 'all topics'}"):
            findings = [finding._asdict() for finding in log.verify(topic)]
        count = 1 if topic else len(log.topics())
    _write_found(findings, json=json)
    where = f'topic "{topic}"' if topic else counted(count, "topic")
    if findings:
        talk(f"{counted(len(findings), 'place')} damaged in {where}")
        raise typer.Exit(_DAMAGED)
    talk(f"{where}: no damage found")


def repair(
    context: typer.Context,
    topic: CheckedTopic = None,
    cut_corrupt: Annotated[
        bool,
        typer.Option(
            "--cut-corrupt",
            help="Give up the records of damaged frames, so that those after them can be read."
            " The damaged segment is set aside.",
        ),
    ] = False,
    json: JsonOption = False,
) -> None:
    """Rebuild heads, lists and indexes from the segments. Records that are whole are not touched.

    Fails where something is left that cannot be rebuilt.
    """
    with opened_log(context) as log, waiting("repairing"):
        done = [item._asdict() for item in log.repair(topic, cut_corrupt=cut_corrupt)]
    _write_found(done, json=json)
    left = sum(bool(item["left"]) for item in done)
    if left:
        talk(
            f"{counted(left, 'file')} still damaged; restore from a copy, or give the records up"
            " with --cut-corrupt"
        )
        raise typer.Exit(_DAMAGED)
    talk(f"{counted(len(done), 'file')} repaired" if done else "there was nothing to repair")


def _write_found(rows: list[dict[str, object]], *, json: bool) -> None:
    if json:
        write_json(rows)
    elif rows:
        cells = [[cell if cell != "" else "-" for cell in row.values()] for row in rows]
        write_table(list(rows[0]), cells)


def _facts(log: EmbeddedLog, directory: Path) -> dict[str, object]:
    from penstock.log.embedded.root import ROOT_FILE  # noqa: PLC0415  # with the log
    from penstock.log.embedded.sealed_json import unseal  # noqa: PLC0415
    from penstock.log.embedded.transaction_file import TransactionFiles  # noqa: PLC0415

    root = unseal(log.storage.read(ROOT_FILE)) or {}
    topics = [log.topic(name) for name in log.topics()]
    segments = [
        segment
        for topic in topics
        for number in range(topic.partitions)
        for segment in log.segments(topic.name, number)
    ]
    return {
        "directory": str(directory),
        "format": root["format"],
        "id": root["log_id"],
        "created_at": root["created_at"],
        "size": sum(_size(file) for file in directory.rglob("*")),
        "topics": len(topics),
        "partitions": sum(topic.partitions for topic in topics),
        "segments": len(segments),
        "records": sum(segment.records for segment in segments),
        "groups": len(log.groups()),
        "transactional_ids": len(TransactionFiles(log.storage).ids()),
    }


def _size(file: Path) -> int:
    try:
        return file.stat().st_size if file.is_file() else 0
    except OSError:
        # Retention may remove a file between seeing its name and asking its size.
        return 0
