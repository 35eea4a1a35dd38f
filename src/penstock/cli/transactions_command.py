"""`penstock transactions`: who writes in transactions, and how to end one that hangs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.opened_log import log_exists, opened_log
from penstock.cli.options import JsonOption
from penstock.cli.output import examples, talk, write_json, write_table
from penstock.errors import TransactionError, did_you_mean

if TYPE_CHECKING:
    from penstock.log.embedded.log import EmbeddedLog
    from penstock.log.embedded.transaction_file import TransactionFiles, TransactionState


def register(application: typer.Typer) -> None:
    """Add the commands of this file."""
    group = typer.Typer(no_args_is_help=True)
    group.command(
        "list", epilog=examples("penstock transactions list", "penstock transactions list --json")
    )(list_transactions)
    group.command("abort", epilog=examples("penstock transactions abort copy-job"))(abort)
    application.add_typer(
        group,
        name="transactions",
        help="See transactional ids, and abort a transaction that hangs.",
        epilog=examples("penstock transactions list", "penstock transactions abort copy-job"),
    )


def list_transactions(context: typer.Context, json: JsonOption = False) -> None:
    """List all transactional ids, what became of their last transaction, and what is open."""
    rows: list[dict[str, object]] = []
    if log_exists(context):
        with opened_log(context) as log:
            rows = _rows(log)
    if json:
        write_json(rows)
    elif rows:
        columns = [name.replace("_", " ") for name in rows[0]]
        write_table(columns, [[_cell(cell) for cell in row.values()] for row in rows])
    else:
        talk("no transaction was ever begun here")


def abort(
    context: typer.Context,
    transactional_id: Annotated[
        str, typer.Argument(metavar="ID", help="A transactional id, as `list` shows it.")
    ],
) -> None:
    """Abort what an id has open, and fence its holder: it cannot commit any more."""
    from penstock.log.embedded.transaction_file import (  # noqa: PLC0415  # with the log
        TransactionFiles,
        writer_id_of,
    )

    with opened_log(context) as log:
        files = TransactionFiles(log.storage)
        writer_id = writer_id_of(transactional_id)
        state = files.read(writer_id)
        if state is None:
            known = [item.transactional_id for _, item in _states(files)]
            raise TransactionError(
                "TRANSACTION_MISSING",
                f'transactional id "{transactional_id}" does not exist',
                hint=did_you_mean(transactional_id, known)
                or "List what exists with `penstock transactions list`.",
            )
        had_open = writer_id in _open_transactions(log, files)
        files.fence(writer_id, state.epoch)
    if had_open:
        talk(f'the open transaction of "{transactional_id}" is aborted and its holder fenced')
    else:
        talk(f'"{transactional_id}" had no open transaction; its holder is fenced')


def _rows(log: EmbeddedLog) -> list[dict[str, object]]:
    from penstock.log.embedded.transaction_file import TransactionFiles  # noqa: PLC0415

    files = TransactionFiles(log.storage)
    still_open = _open_transactions(log, files)
    return [
        {
            "id": state.transactional_id,
            "epoch": state.epoch,
            "decided": state.number,
            "last": None if state.status == "none" else state.status,
            "note": state.note,
            "open_in": still_open.get(writer_id, []),
        }
        for writer_id, state in _states(files)
    ]


def _states(files: TransactionFiles) -> list[tuple[int, TransactionState]]:
    found = [(writer_id, files.read(writer_id)) for writer_id in files.ids()]
    known = [(writer_id, state) for writer_id, state in found if state is not None]
    return sorted(known, key=lambda item: item[1].transactional_id)


def _open_transactions(log: EmbeddedLog, files: TransactionFiles) -> dict[int, list[str]]:
    """The partitions, by writer id, in which a transaction is not decided yet."""
    found: dict[int, list[str]] = {}
    for name in log.topics():
        for number in range(log.topic(name).partitions):
            for item in log.partition(name, number).reader.head().open:
                if files.outcome(*item.key) == "open":
                    found.setdefault(item.writer_id, []).append(f"{name}-{number}")
    return found


def _cell(value: object) -> str:
    text = ",".join(value) if isinstance(value, list) else "" if value is None else str(value)
    return text or "-"
