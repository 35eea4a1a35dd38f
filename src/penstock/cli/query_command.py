"""`penstock query`: any SELECT over what the log holds, answered once."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.options import JsonOption, settings_of
from penstock.cli.output import examples, talk, write_json, write_line, write_table
from penstock.errors import UsageError

if TYPE_CHECKING:
    from penstock.config import Settings
    from penstock.serve.pull.as_of import Said
    from penstock.serve.pull.tables import Tables

_USUAL_LIMIT = 1000


def register(application: typer.Typer) -> None:
    """Add the command of this file."""
    application.command(
        "query",
        epilog=examples(
            "penstock query 'SELECT * FROM orders ORDER BY amount DESC LIMIT 10'",
            "penstock query 'SELECT * FROM history.people' --csv",
            "penstock query 'SELECT sum(amount) FROM ledger' --as-of 2026-01-31T12:00:00Z",
            "penstock query --tables",
            "penstock query 'SELECT 1' --server http://127.0.0.1:8080",
        ),
    )(query)


def query(  # noqa: PLR0913  # each parameter is an option
    context: typer.Context,
    sql: Annotated[str, typer.Argument(metavar="SELECT", help="One SELECT of DuckDB.")] = "",
    *,
    as_of: Annotated[
        str,
        typer.Option(
            "--as-of", metavar="TIME", help="As of a time, or of offsets: orders-0=12,orders-1=7."
        ),
    ] = "",
    limit: Annotated[
        int, typer.Option("--limit", min=0, help="How many rows at most.")
    ] = _USUAL_LIMIT,
    tables: Annotated[
        bool, typer.Option("--tables", help="List the names that FROM can have.")
    ] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    json: JsonOption = False,
) -> None:
    """Answer a SELECT over tables, streams and topics, as of one instant of the log."""
    if tables == bool(sql) or (csv and json):
        raise UsageError(
            "QUERY_OPTIONS",
            "a SELECT and --tables, or --csv and --json, are given together, or neither of the"
            " first two",
            hint="Write it as penstock query 'SELECT ...' or penstock query --tables.",
        )
    settings = settings_of(context)
    ask = _remote if settings.server else _here
    document = ask(settings, (sql, limit, _moment(as_of)))
    if tables:
        _write_tables(document, json=json)
    else:
        _write(document, csv=csv, json=json)


def _here(settings: Settings, asked: tuple[str, int, Said]) -> Any:  # noqa: ANN401  # a JSON document
    from penstock.log.open import open_log  # noqa: PLC0415  # Arrow: 0.1 s
    from penstock.schema.registry.open import open_schemas  # noqa: PLC0415
    from penstock.serve.pull.tables import Tables  # noqa: PLC0415  # polars

    sql, limit, as_of = asked
    with (
        open_log(settings.home) as log,
        closing(open_schemas(log, settings.registry_url)) as registry,
        closing(Tables(log, registry, settings=settings)) as tables,
    ):
        if not sql:
            return _listed(tables)
        return tables.query(sql, limit=limit, as_of=as_of).document()


def _listed(tables: Tables) -> list[dict[str, Any]]:
    return [
        {
            "name": source.name,
            "kind": source.kind,
            "topic": source.topic,
            "columns": [{"name": item.name, "type": str(item.type)} for item in source.columns],
            "key": ["ROWKEY" if name == "_key" else name for name in source.keys],
            "windowed": bool(source.bounds),
        }
        for source in tables.sources()
    ]


def _remote(settings: Settings, asked: tuple[str, int, Said]) -> Any:  # noqa: ANN401  # a JSON document
    """Ask a server; what it refuses is told as it would be here."""
    from penstock.client.server import server_of  # noqa: PLC0415  # few ask a server

    sql, limit, as_of = asked
    with server_of(settings, os.environ) as server:
        if not sql:
            return server.items("/tables")
        return server.post("/query", {"sql": sql, "limit": limit, "as_of": as_of})


def _moment(text: str) -> Said:
    """Read --as-of: offsets have an equals sign, times have none."""
    if "=" not in text:
        return text or None
    offsets: dict[str, int] = {}
    for part in text.split(","):
        place, _, offset = part.strip().rpartition("=")
        if not place or not offset.isdecimal():
            raise UsageError(
                "QUERY_AS_OF",
                f'"{part.strip()}" is no partition with an offset',
                hint="Write offsets as orders-0=12,orders-1=7.",
            )
        offsets[place] = int(offset)
    return offsets


def _write(document: Any, *, csv: bool, json: bool) -> None:  # noqa: ANN401  # a JSON document
    if json:
        write_json(document)
        return
    names = [column["name"] for column in document["columns"]]
    if csv:
        _write_csv(names, document["rows"])
    else:
        from penstock.cli.sql_answer import cell_text  # noqa: PLC0415  # loads the log

        write_table(names, [[cell_text(cell) for cell in row] for row in document["rows"]])
    count = len(document["rows"])
    reached = ", ".join(f"{at}@{end}" for at, end in document["offsets"].items() if end)
    more = "the first " if document["truncated"] else ""
    told = f" as of {reached}" if reached else ""
    talk(f"({more}{count} {'row' if count == 1 else 'rows'}{told})")


def _write_csv(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    import csv  # noqa: PLC0415  # only for this form
    import io  # noqa: PLC0415
    import json  # noqa: PLC0415

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    for row in rows:
        writer.writerow(
            [
                json.dumps(cell, ensure_ascii=False)
                if isinstance(cell, list | dict | bool)
                else cell
                for cell in row
            ]
        )
    write_line(text.getvalue().rstrip("\n"))


def _write_tables(listed: Any, *, json: bool) -> None:  # noqa: ANN401  # a JSON document
    if json:
        write_json(listed)
        return
    rows = [
        (it["name"], it["kind"], ", ".join(it["key"]), ", ".join(c["name"] for c in it["columns"]))
        for it in listed
    ]
    if rows:
        write_table(("name", "kind", "key", "columns"), rows)
    else:
        talk("no tables, streams or topics yet")
