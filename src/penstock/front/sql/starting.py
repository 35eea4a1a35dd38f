"""FROM BEGINNING | LATEST | '<time>' | OFFSET n: where a query begins to read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from penstock.errors import SqlError
from penstock.front.sql.catalog import Catalog
from penstock.front.sql.moment_text import moment_millis
from penstock.front.sql.rewiring import with_streams
from penstock.front.sql.sink import Result
from penstock.front.sql.source import SqlSource
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.tree_query import Start as Said
from penstock.model.plan import Plan
from penstock.model.relation import Relation
from penstock.model.source import Stream
from penstock.model.start import Place, Start

OFFSET_RESET = "auto.offset.reset"
_RESETS: Mapping[str, Place] = {"earliest": "beginning", "latest": "latest"}


def start_of(said: Said, text: SourceText) -> Start:
    """Read where a query begins; a text that is no time is refused."""
    if said.at == "offset":
        assert isinstance(said.value, int)
        return Start("offset", said.value)
    if said.at != "time":
        return Start(said.at)
    moment = moment_millis(str(said.value))
    if moment is None:
        raise SqlError(
            "SQL_START",
            text.shown(f"'{said.value}' is no time to begin at", said.span),
            hint="Write it as in '2026-05-04T10:00:00', or FROM BEGINNING, LATEST or OFFSET n.",
        )
    return Start("time", moment)


def begun(relation: Relation, reads: Sequence[SqlSource], start: Start) -> Relation:
    """Let reading begin somewhere; a table that rows are joined to is read whole."""
    topics = {source.topic for source in reads}
    tables = {source.topic for source in reads if source.is_table}
    whole = tables if tables < topics else set()

    def moved(stream: Stream) -> Stream:
        whole_file = stream.files is not None
        return stream if whole_file or stream.topic in whole else replace(stream, start=start)

    return with_streams(relation, moved)


def refuse_start_of_table(said: Said, reads: Sequence[SqlSource], text: SourceText) -> None:
    """Refuse to look at a part of a table's records, which is no table."""
    tables = [source.name for source in reads if source.is_table]
    if tables and said.at != "beginning":
        raise SqlError(
            "SQL_START",
            text.shown(
                f'"{tables[0]}" is a table: what it holds follows from all records', said.span
            ),
            hint="Leave out where to begin, or ask with EMIT CHANGES for what changes from there.",
        )


def begun_result(made: Result, said: Said | None, text: SourceText) -> Result:
    """Let the rows of a query begin where it says."""
    if said is None:
        return made
    relation = begun(made.relation, made.rows.sources, start_of(said, text))
    return replace(made, relation=relation)


def begun_plan(plan: Plan, reads: Sequence[SqlSource], start: Start) -> Plan:
    """Let all that a plan reads begin somewhere."""
    sinks = (replace(sink, relation=begun(sink.relation, reads, start)) for sink in plan.sinks)
    return replace(plan, sinks=tuple(sinks))


def setting_start(catalog: Catalog, default: Place) -> Start:
    """Give where a query begins that does not say it: SET 'auto.offset.reset' does."""
    said = catalog.setting(OFFSET_RESET).lower()
    return Start(_RESETS.get(said, default))
