"""`python -m bench.nexmark.answers q5 FOLDER`: the batch answer of a query, by DuckDB."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from bench.nexmark.questions import QUESTIONS
from bench.nexmark.schemas import KINDS, SIDE

CLOSES_AT = "closes_at"


def answer(query: str, folder: Path) -> pa.Table:
    """Give the rows that a query has over all the events of a folder, in no order."""
    question = QUESTIONS[query]
    with events_of(folder) as database:
        whole = database.sql(question.sql).to_arrow_table()
    hidden = (CLOSES_AT, *question.optional)
    return whole.select([name for name in whole.column_names if name not in hidden])


def count_events(query: str, folder: Path) -> int:
    """Give how many rows the topics hold that a query reads."""
    return sum(
        pq.read_metadata(path).num_rows
        for kind in QUESTIONS[query].reads
        for path in (folder / kind).glob("*.parquet")
    )


@contextmanager
def events_of(folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open the events of a folder as the tables `person`, `auction`, `bid` and `side`."""
    with duckdb.connect() as database:
        for kind, schema in {**KINDS, "side": SIDE}.items():
            # Times without a zone, which are UTC: no setting of a machine has a say.
            columns = ", ".join(
                f"epoch_ms(epoch_ms({field.name})) AS {field.name}"
                if pa.types.is_timestamp(field.type)
                else field.name
                for field in schema
            )
            database.execute(
                f"CREATE VIEW {kind} AS SELECT {columns}"
                f" FROM read_parquet('{folder / kind}/*.parquet')"
            )
        yield database


if __name__ == "__main__":
    found = answer(sys.argv[1], Path(sys.argv[2]))
    print(duckdb.from_arrow(found))
    print(f"{found.num_rows:,} rows")
