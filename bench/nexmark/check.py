"""`python -m bench.nexmark.check q5 FOUND.parquet FOLDER`: whether a result is the right answer."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import TypeAlias

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from bench.nexmark.answers import CLOSES_AT, events_of
from bench.nexmark.questions import QUESTIONS, Question

LATENESS = timedelta(seconds=4)
_SHOWN = 3
_Database: TypeAlias = duckdb.DuckDBPyConnection


def differences(query: str, found: pa.Table, folder: Path) -> list[str]:
    """Say what is wrong with a result, one sentence each; nothing where it is right.

    Rows are compared as a multiset. Rows of windows that were still open at the last event, by
    what event time may be late, may be missing; where they are there they must be right.
    """
    question = QUESTIONS[query]
    with events_of(folder) as database:
        _use(database, "whole", question.sql)
        database.register("given", _renamed(found, _columns(database, "whole")))
        _use(database, "found", question.gathered or "FROM given")
        columns = [name for name in _columns(database, "whole") if name != CLOSES_AT]
        held = _columns(database, "found")
        missing = [c for c in columns if c not in held and c not in question.optional]
        if missing:
            return [f"column {name} is missing; there are: {', '.join(held)}" for name in missing]
        compared = [name for name in question.decided or columns if name in held]
        return [
            *_compared(database, question, compared),
            *_invented(database, question, [name for name in columns if name in held]),
        ]


def _compared(database: _Database, question: Question, columns: list[str]) -> Iterator[str]:
    """Compare on the columns that do not depend on which of two like rows was taken."""
    there, right = _plain(database, "found", columns), _plain(database, "whole", columns)
    if _same(database, there, right, columns):
        return
    yield from _told(database, f"{there} EXCEPT ALL {right}", "too many or wrong")
    if CLOSES_AT in _columns(database, "whole"):
        latest = " UNION ALL ".join(
            f"SELECT max(date_time) AS latest FROM {k}" for k in question.reads
        )
        closed = f"SELECT min(latest) - INTERVAL {LATENESS.seconds} SECOND FROM ({latest})"
        right += f" WHERE {CLOSES_AT} <= ({closed})"
    yield from _told(database, f"{right} EXCEPT ALL {there}", "missing")


def _same(database: _Database, there: str, right: str, columns: list[str]) -> bool:
    """Whether two multisets of rows are equal, by their hashes: much sooner than by the rows."""
    row = ", ".join(f'"{name}"' for name in columns)
    found = database.execute(f"""
        SELECT 1 FROM (
          SELECT hash({row}) AS row, 1 AS n FROM ({there})
          UNION ALL SELECT hash({row}) AS row, -1 AS n FROM ({right}))
        GROUP BY row HAVING sum(n) <> 0 LIMIT 1""").fetchone()
    return found is None


def _invented(database: _Database, question: Question, columns: list[str]) -> Iterator[str]:
    """Find rows that are none of those which a query may choose from."""
    if question.candidates:
        database.execute(f"CREATE OR REPLACE TEMP VIEW candidates AS {question.candidates}")
        chosen = [name for name in columns if name in _columns(database, "candidates")]
        there = _plain(database, "found", chosen)
        row = ", ".join(f'"{name}"' for name in chosen)
        known = f"SELECT hash({row}) FROM ({_plain(database, 'candidates', chosen)})"
        yield from _told(
            database, f"FROM ({there}) WHERE hash({row}) NOT IN ({known})", "no rows of the events"
        )


def _told(database: _Database, rows: str, kind: str) -> Iterator[str]:
    _use(database, "wrong", rows)
    counted = database.execute("SELECT count(*) FROM wrong").fetchone()
    assert counted is not None
    if counted[0]:
        some = database.execute(f"FROM wrong ORDER BY ALL LIMIT {_SHOWN}").fetchall()
        names = ", ".join(_columns(database, "wrong"))
        yield f"{counted[0]:,} rows are {kind}, such as {some} ({names})"


def _plain(database: _Database, table: str, columns: list[str]) -> str:
    """Give rows whose values compare: times as milliseconds, decimals as thousandths."""
    kinds = dict(zip(_columns(database, table), _types(database, table), strict=True))
    wanted = dict(zip(_columns(database, "whole"), _types(database, "whole"), strict=True))
    chosen = (_comparable(name, kinds[name], wanted[name]) for name in columns)
    return f"SELECT {', '.join(chosen)} FROM {table}"


def _comparable(name: str, kind: str, wanted: str) -> str:
    if kind.startswith("TIMESTAMP"):
        value = f'epoch_ms("{name}")'
    elif wanted.startswith("DECIMAL"):
        value = f'round("{name}" * 1000)::BIGINT'
    elif kind.startswith(("DECIMAL", "DOUBLE", "FLOAT")) and wanted == "BIGINT":
        # An average: Flink's is a whole number, cut off; that of others has its fraction.
        value = f'floor("{name}" + 1e-6)::BIGINT'
    elif wanted in {"BIGINT", "INTEGER"}:
        value = f'"{name}"::BIGINT'
    else:
        value = f'"{name}"::{wanted}'
    return f'{value} AS "{name}"'


def _renamed(found: pa.Table, wanted: list[str]) -> pa.Table:
    """Write the names of columns as we do: `bidTimeType` is our `bid_time_type`."""
    ours = {name.replace("_", ""): name for name in wanted}
    names = [ours.get(n.lower().replace("_", ""), n.lower()) for n in found.column_names]
    return found.rename_columns(names)


def _use(database: _Database, name: str, sql: str) -> None:
    database.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {sql}")


def _columns(database: _Database, table: str) -> list[str]:
    return [row[0] for row in database.execute(f"DESCRIBE {table}").fetchall()]


def _types(database: _Database, table: str) -> list[str]:
    return [row[1] for row in database.execute(f"DESCRIBE {table}").fetchall()]


if __name__ == "__main__":
    told = differences(sys.argv[1], pq.read_table(sys.argv[2]), Path(sys.argv[3]))
    print("\n".join(told) or "right")
    sys.exit(bool(told))
