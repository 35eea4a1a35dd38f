"""DuckDB, locked: it sees the rows it is given, no file, no network, and no setting to change."""

from __future__ import annotations

import difflib
import itertools
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from penstock.errors import SqlError
from penstock.serve.pull.statement import Statement, read_statement

_MIB = 1024 * 1024
_PIECE = 2048
_PLACE = re.compile(r"^LINE (\d+): (.*)\n( *)(\^+)", re.MULTILINE)
_MEANT = re.compile(r"^Did you mean (.*?)\??$", re.MULTILINE)
_COLUMN = re.compile(r'[Rr]eferenced column "([^"]*)"')
_KIND = re.compile(r"^[A-Z][A-Za-z ]* Error: ")


@dataclass(frozen=True, slots=True)
class Result:
    """The rows of a SELECT, and the types that DuckDB calls its columns by."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: pa.Table
    truncated: bool


class Engine:
    """Runs SELECTs over rows that are given; each sees its own and no others."""

    def __init__(self, *, memory: int, threads: int = 2) -> None:
        import duckdb  # noqa: PLC0415  # 0.1 s, and most servers are asked for nothing

        self._duckdb = duckdb
        self._memory = memory
        self._numbers = itertools.count()
        self._database = duckdb.connect(
            ":memory:",
            config={
                "allow_community_extensions": "false",
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
                "enable_external_access": "false",
                "memory_limit": f"{max(1, memory // _MIB)}MiB",
                # Else a name in FROM could be any variable of this process.
                "python_enable_replacements": "false",
                "threads": str(threads),
            },
        )
        self._database.execute("SET TimeZone = 'UTC'")
        self._database.execute("SET lock_configuration = true")

    def close(self) -> None:
        """Let go of its memory."""
        self._database.close()

    def read(self, text: str) -> Statement:
        """Read a text as one SELECT, or refuse it."""
        if "\0" in text or text != text.encode(errors="ignore").decode():
            raise SqlError(
                "QUERY_SYNTAX",
                "the text has characters that no text has",
                hint="Send it as UTF-8, without zero bytes.",
            )
        with self._cursor() as cursor:
            found = cursor.execute(
                "SELECT json_serialize_sql(?, skip_null := true, skip_empty := true,"
                " skip_default := true)",
                [text],
            ).fetchone()
        assert found is not None
        return read_statement(text, str(found[0]))

    def run(
        self,
        statement: Statement,
        rows: Mapping[tuple[str, ...], pa.Table],
        *,
        limit: int,
        seconds: float,
    ) -> Result:
        """Answer a SELECT over rows by name, with at most so many rows and in so many seconds."""
        with self._cursor() as cursor, self._given(cursor, rows):
            over = threading.Timer(max(0.0, seconds), cursor.interrupt)
            over.daemon = True
            over.start()
            try:
                return _taken(cursor.sql(statement.text), limit)
            except pa.ArrowException as error:
                raise SqlError(
                    "QUERY_WRONG",
                    f"a column is of a type that cannot be given: {str(error).splitlines()[0]}",
                    hint="Cast it, for instance to VARCHAR.",
                ) from error
            except self._duckdb.Error as error:
                columns = {name for table in rows.values() for name in table.column_names}
                raise self._told(self._placed(error, cursor, statement), columns) from error
            finally:
                over.cancel()

    @contextmanager
    def _cursor(self) -> Iterator[Any]:
        cursor = self._database.cursor()
        try:
            yield cursor
        finally:
            cursor.close()

    @contextmanager
    def _given(self, cursor: Any, rows: Mapping[tuple[str, ...], pa.Table]) -> Iterator[None]:  # noqa: ANN401  # DuckDB's own
        """Let rows be found by their names; those of two parts lie in a schema."""
        for path, table in rows.items():
            if len(path) == 1:
                cursor.register(path[0], table)
        wide = {path: table for path, table in rows.items() if len(path) > 1}
        if not wide:
            yield
            return
        # A catalog of its own, since others may ask at the same time for other rows by this name.
        own = f"asked_{next(self._numbers)}"
        cursor.execute(f"ATTACH ':memory:' AS {own}")
        try:
            cursor.execute(f"USE {own}")
            for place, (path, table) in enumerate(wide.items()):
                schema, name = map(quoted, path)
                cursor.register(f"{own}_{place}", table)
                cursor.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
                cursor.execute(
                    f"CREATE VIEW {schema}.{name} AS SELECT * FROM temp.{own}_{place}"  # noqa: S608  # quoted
                )
            yield
        finally:
            cursor.execute("USE memory")
            cursor.execute(f"DETACH {own}")

    def _placed(self, error: Exception, cursor: Any, statement: Statement) -> Exception:  # noqa: ANN401  # DuckDB's own
        """Give the error with its place, which only this way of asking tells."""
        if not isinstance(error, self._duckdb.BinderException | self._duckdb.CatalogException):
            return error
        try:
            cursor.execute(statement.text)
        except self._duckdb.Error as placed:
            return placed
        return error

    def _told(self, error: Exception, columns: set[str]) -> SqlError:
        if isinstance(error, self._duckdb.InterruptException):
            return SqlError(
                "QUERY_TIME",
                "the answer took longer than one may",
                hint="Ask for less: a condition on fewer rows, or a join by equality.",
            )
        if isinstance(error, self._duckdb.OutOfMemoryException):
            return SqlError(
                "QUERY_MEMORY",
                f"the answer needs more than the {self._memory // _MIB} MiB that one may take",
                hint="Ask for less: fewer columns, or a condition on fewer rows.",
            )
        fact, hint = _in_our_words(str(error), columns)
        return SqlError("QUERY_WRONG", fact, hint=hint)


def quoted(name: str) -> str:
    """Give a name as SQL has it, whatever is in it."""
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


def _taken(relation: Any, limit: int) -> Result:  # noqa: ANN401  # DuckDB's own
    if relation is None:
        raise SqlError("QUERY_STATEMENT", "this gives no rows", hint="Ask one SELECT.")
    columns = tuple(str(name) for name in relation.columns)
    types = tuple(str(kind) for kind in relation.types)
    reader = relation.to_arrow_reader(_PIECE)
    pieces: list[pa.RecordBatch] = []
    count = 0
    for piece in reader:
        pieces.append(piece)
        count += piece.num_rows
        if count > limit:
            break
    rows = pa.Table.from_batches(pieces, reader.schema)
    return Result(columns, types, rows.slice(0, limit), count > limit)


def _in_our_words(message: str, columns: set[str]) -> tuple[str, str]:
    """Give what DuckDB says as a fact with its place, and as a hint what it suggests."""
    lines = _KIND.sub("", message).split("\n\n", 1)[0].splitlines()
    said = lines[0].rstrip("!.") if lines else "it cannot be answered"
    fact = f"{said[:1].lower()}{said[1:]}"
    found = _PLACE.search(message)
    if found is not None:
        begin = len(f"LINE {found[1]}: ")
        indent = len(found[3]) - begin
        # A long line is cut, and so its columns cannot be counted.
        column = "" if found[2].startswith("...") else f", column {indent + 1}"
        fact = f"line {found[1]}{column}: {fact}\n{found[2]}\n{' ' * indent}{found[4]}"
    missing = _COLUMN.search(message)
    alike = {name.lower(): name for name in columns}
    close = difflib.get_close_matches(missing[1].lower(), alike, n=1) if missing else []
    if close:
        return fact, f'Did you mean "{alike[close[0]]}"?'
    meant = _MEANT.search(message)
    if meant is not None and missing is None:
        return fact, f"Did you mean {meant[1]}?"
    return fact, "DESCRIBE NAME tells the columns of a relation, and their types."
