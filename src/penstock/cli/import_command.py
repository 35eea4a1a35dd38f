"""`penstock import`: what another system ran, as a project of ours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.options import JsonOption
from penstock.cli.output import examples, talk, write_json, write_table
from penstock.errors import UsageError

if TYPE_CHECKING:
    from penstock.sql.importing import Tried

_REFUSED = 1


def register(application: typer.Typer) -> None:
    """Add the commands of this file."""
    group = typer.Typer(no_args_is_help=True)
    group.command(
        "ksql",
        epilog=examples(
            "penstock import ksql queries.sql",
            "penstock import ksql migrations/ --to project/",
            "penstock import ksql http://localhost:8088 --to project/",
        ),
    )(ksql)
    application.add_typer(
        group,
        name="import",
        help="Bring over what another system runs.",
        epilog=examples("penstock import ksql queries.sql"),
    )


def ksql(
    source: Annotated[
        str,
        typer.Argument(help="A script, a directory of migrations, or a ksqlDB server's address."),
    ],
    *,
    to: Annotated[
        Path | None,
        typer.Option("--to", metavar="DIRECTORY", help="Write a project that `sql apply` takes."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Try the statements of ksqlDB: each runs, or is refused with the reason."""
    from penstock.sql.importing import tried, write_project  # noqa: PLC0415  # the grammar, polars

    found = tried(_texts(source))
    if not found:
        raise UsageError(
            "IMPORT_EMPTY",
            f'"{source}" has no statements',
            hint="Give a script, a directory of migrations, or the address of a ksqlDB server.",
        )
    files = [] if to is None else [str(file) for file in write_project(to, found)]
    runs = sum(item.refusal is None for item in found)
    if json:
        told = [_told(item) for item in found]
        write_json({"runs": runs, "refused": len(found) - runs, "statements": told, "files": files})
    else:
        write_table(("verdict", "makes", "why"), [_row(item) for item in found])
        talk(f"{runs} of {len(found)} statements run")
        if to is not None:
            talk(f'written to "{to}": see what it does with `penstock sql plan {to}`')
    if runs < len(found):
        raise typer.Exit(_REFUSED)


def _texts(source: str) -> list[str]:
    if source.startswith(("http://", "https://")):
        from penstock.sql.ksql_server import server_statements  # noqa: PLC0415

        return list(server_statements(source))
    from penstock.sql.importing import scripts_of  # noqa: PLC0415

    return list(scripts_of(Path(source)))


def _row(item: Tried) -> tuple[str, str, str]:
    shown = item.makes or " ".join(item.text.split())[:40]
    if item.refusal is None:
        return "runs", shown, ""
    first = item.refusal.fact.splitlines()[0]
    return "refused", shown, f"[{item.refusal.code}] {first}"


def _told(item: Tried) -> dict[str, object]:
    told: dict[str, object] = {"text": item.text, "makes": item.makes, "runs": item.refusal is None}
    if item.refusal is not None:
        told |= {"code": item.refusal.code, "why": item.refusal.fact, "hint": item.refusal.hint}
    return told
