"""The queries of Nexmark in our SQL: each file becomes one program over the typed topics."""

from __future__ import annotations

from pathlib import Path

from penstock.front.sql.catalog import Catalog
from penstock.front.sql.statement import Session, Started
from penstock.log.port import Log
from penstock.sql.named_files import NamedFiles
from penstock.sql.script import pieces_of, read_piece
from penstock.sql.topic_columns import TopicColumns

QUERIES = Path(__file__).parent / "queries"
_SOURCES = "sources.sql"


def names() -> tuple[str, ...]:
    """Give the queries that are written in SQL, in order."""
    found = [path.stem for path in QUERIES.glob("q*.sql")]
    return tuple(sorted(found, key=lambda name: int(name[1:])))


def started(query: str, log: Log, folder: Path, results: str) -> Started:
    """Give the program of a query over the events of a folder that writes to a topic."""
    session = Session(Catalog(files=NamedFiles(), topics=TopicColumns(log)))
    texts = [(QUERIES / name).read_text() for name in (_SOURCES, f"{query}.sql")]
    variables = {"RESULTS": results, "SIDE": str(folder / "side" / "side.parquet")}
    made: list[Started] = []
    for piece in pieces_of("\n".join(texts)):
        outcome = session.execute(read_piece(piece, variables))
        made += [outcome] if isinstance(outcome, Started) else []
    (only,) = made
    return only
